// Matrix product in single precision, version 4 of 7: a thread computes eight elements of a column
#include "digest.h"

const int BM = 64, BN = 64, BK = 8, TM = 8;

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ float as[BM][BK], bs[BK][BN];
    int t = threadIdx.x, col = t % BN, part = t / BN;
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        as[t / BK][t % BK] = a[t / BK * k + k0 + t % BK];
        bs[part][col] = b[(k0 + part) * n + col];
        __syncthreads();
        for (int i = 0; i < BK; i++) {
            float factor = bs[i][col];
            for (int j = 0; j < TM; j++) {
                sums[j] += as[part * TM + j][i] * factor;
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < TM; j++) {
        c[(part * TM + j) * n + col] = sums[j];
    }
}
