// Matrix product in single precision, version 5 of 7: a thread computes four by four elements
#include "digest.h"

const int BM = 64, BN = 64, BK = 8, TM = 4, TN = 4;

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ float as[BM][BK], bs[BK][BN];
    int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
    a += blockIdx.y * BM * k;
    b += blockIdx.x * BN;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM][TN] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int i = t; i < BM * BK; i += 256) {
            as[i / BK][i % BK] = a[i / BK * k + k0 + i % BK];
            bs[i / BN][i % BN] = b[(k0 + i / BN) * n + i % BN];
        }
        __syncthreads();
        for (int i = 0; i < BK; i++) {
            float column[TM], row[TN];
            for (int j = 0; j < TM; j++) {
                column[j] = as[ty * TM + j][i];
            }
            for (int j = 0; j < TN; j++) {
                row[j] = bs[i][tx * TN + j];
            }
            for (int y = 0; y < TM; y++) {
                for (int x = 0; x < TN; x++) {
                    sums[y][x] += column[y] * row[x];
                }
            }
        }
        __syncthreads();
    }
    for (int y = 0; y < TM; y++) {
        for (int x = 0; x < TN; x++) {
            c[(ty * TM + y) * n + tx * TN + x] = sums[y][x];
        }
    }
}
