// halves_fma multiplies matrices in half precision, a of columns and b of rows, a tile of 64 x 64 a block.
// Each thread adds up 4 x 4 elements by multiply-adds of pairs.
#include <cuda_fp16.h>

const int TILE = 64, SLAB = 32;

extern "C" __global__ void halves_fma(const __half *__restrict__ a, const __half *__restrict__ b, __half *__restrict__ c, int n, int depth) {
    __shared__ __align__(16) __half a_tile[SLAB][TILE], b_tile[SLAB][TILE];
    int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4, row = threadIdx.x / 8, column = threadIdx.x % 8 * 8;
    __half2 sum[4][2] = {};
    for (int k0 = 0; k0 < depth; k0 += SLAB) {
        *(uint4 *)&a_tile[row][column] = *(const uint4 *)&a[(k0 + row) * n + blockIdx.y * TILE + column];
        *(uint4 *)&b_tile[row][column] = *(const uint4 *)&b[(k0 + row) * n + blockIdx.x * TILE + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SLAB; k++) {
            __half2 left[2], right[2];
            *(uint2 *)left = *(const uint2 *)&a_tile[k][y];
            *(uint2 *)right = *(const uint2 *)&b_tile[k][x];
#pragma unroll
            for (int j = 0; j < 2; j++) {
                sum[0][j] = __hfma2(__low2half2(left[0]), right[j], sum[0][j]);
                sum[1][j] = __hfma2(__high2half2(left[0]), right[j], sum[1][j]);
                sum[2][j] = __hfma2(__low2half2(left[1]), right[j], sum[2][j]);
                sum[3][j] = __hfma2(__high2half2(left[1]), right[j], sum[3][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        *(uint2 *)&c[(blockIdx.y * TILE + y + i) * n + blockIdx.x * TILE + x] = *(const uint2 *)sum[i];
    }
}
