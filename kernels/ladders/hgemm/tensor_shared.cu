// Matrix product in half precision with sums in single, version 4 of 4: tiles of 64 by 64 in shared memory, loaded
// by 16 bytes an access; a warp computes four fragments
#include "wmma16.h"
#include "digest.h"

const int TILE = 64, DEPTH = 32, PAD = 8;

extern "C" __global__ void hgemm(int m, int n, int k, const half *a, const half *b, float *c) {
    __shared__ __align__(16) half as[TILE][DEPTH + PAD], bs[DEPTH][TILE + PAD];
    int t = threadIdx.y * 32 + threadIdx.x, warp = threadIdx.y;
    unsigned fa[8], fb[8];
    float sums[4][8] = {};
    for (int i = 0; i < k; i += DEPTH) {
        for (int r = t; r < TILE * DEPTH / 8; r += 128) {
            int y = r / (DEPTH / 8), x = r % (DEPTH / 8) * 8;
            *(int4 *)&as[y][x] = *(const int4 *)&a[(blockIdx.y * TILE + y) * k + i + x];
        }
        for (int r = t; r < TILE * DEPTH / 8; r += 128) {
            int y = r / (TILE / 8), x = r % (TILE / 8) * 8;
            *(int4 *)&bs[y][x] = *(const int4 *)&b[(i + y) * n + blockIdx.x * TILE + x];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16) {
            load_a(fa, &as[warp * 16][d], DEPTH + PAD);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                load_b(fb, &bs[d][j * 16], TILE + PAD);
                multiply_add(sums[j], fa, fb);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        store(c + (blockIdx.y * TILE + warp * 16) * n + blockIdx.x * TILE + j * 16, sums[j], n);
    }
}
