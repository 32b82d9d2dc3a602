// Matrix product in single precision, version 2 of 7: neighbouring threads have neighbouring columns
#include "digest.h"

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = sum;
    }
}
