// Matrix product in half precision with sums in single, version 2 of 4: tiles in shared memory, converted once; four
// elements a thread
#include <cuda_fp16.h>
#include "digest.h"

const int TILE = 32;

extern "C" __global__ void hgemm(int m, int n, int k, const half *a, const half *b, float *c) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx, row = blockIdx.y * TILE + ty;
    float sums[4] = {};
    for (int t = 0; t < k; t += TILE) {
        for (int j = 0; j < 4; j++) {
            as[ty + 8 * j][tx] = __half2float(a[(row + 8 * j) * k + t + tx]);
            bs[ty + 8 * j][tx] = __half2float(b[(t + ty + 8 * j) * n + col]);
        }
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            float v = bs[i][tx];
            for (int j = 0; j < 4; j++) {
                sums[j] += as[ty + 8 * j][i] * v;
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) {
        c[(row + 8 * j) * n + col] = sums[j];
    }
}
