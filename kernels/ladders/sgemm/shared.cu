// Matrix product in single precision, version 3 of 7: tiles of both matrices in shared memory
#include "digest.h"

const int TILE = 32;

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * k + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + col] = sum;
}
