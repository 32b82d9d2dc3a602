// Matrix product in half precision with sums in single, version 3 of 4: tensor cores: a warp a tile of 16 by 16,
// fragments from global memory
#include "wmma16.h"
#include "digest.h"

extern "C" __global__ void hgemm(int m, int n, int k, const half *a, const half *b, float *c) {
    int col = (blockIdx.x * blockDim.y + threadIdx.y) * 16, row = blockIdx.y * 16;
    unsigned fa[8], fb[8];
    float sum[8] = {};
    for (int i = 0; i < k; i += 16) {
        load_a(fa, a + row * k + i, k);
        load_b(fb, b + i * n + col, n);
        multiply_add(sum, fa, fb);
    }
    store(c + row * n + col, sum, n);
}
