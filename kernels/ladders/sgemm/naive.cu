// Matrix product in single precision, version 1 of 7: a thread an element; neighbouring threads have neighbouring
// rows
#include "digest.h"

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = sum;
    }
}
