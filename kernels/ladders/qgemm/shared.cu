// Product of matrices of bytes with a scale a row, version 3 of 4: tiles in shared memory, in padded rows
#include "digest.h"

const int TILE = 16;

extern "C" __global__ void qgemm(int m, int n, int k, const int *a, const int *b, const float *scales, float *c) {
    __shared__ int as[TILE][TILE + 1], bs[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y, words = k / 4;
    int col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    int sum = 0;
    for (int w = 0; w < words; w += TILE) {
        as[ty][tx] = a[row * words + w + tx];
        bs[ty][tx] = b[(blockIdx.x * TILE + ty) * words + w + tx];
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum = __dp4a(as[ty][i], bs[tx][i], sum);
        }
        __syncthreads();
    }
    c[row * n + col] = sum * scales[row];
}
