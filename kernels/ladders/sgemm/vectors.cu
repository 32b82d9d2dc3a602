// Matrix product in single precision, version 6 of 7: 16 bytes an access, and the tile of the first matrix is
// transposed so that its column is read in one
#include "digest.h"

const int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ __align__(16) float as[BK][BM], bs[BK][BN];
    int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
    a += blockIdx.y * BM * k + t / (BK / 4) * k + t % (BK / 4) * 4;
    b += blockIdx.x * BN + t / (BN / 4) * n + t % (BN / 4) * 4;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM][TN] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        float4 v = *(const float4 *)(a + k0);
        int i0 = t % (BK / 4) * 4, j0 = t / (BK / 4);
        as[i0][j0] = v.x;
        as[i0 + 1][j0] = v.y;
        as[i0 + 2][j0] = v.z;
        as[i0 + 3][j0] = v.w;
        *(float4 *)&bs[t / (BN / 4)][t % (BN / 4) * 4] = *(const float4 *)(b + k0 * n);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 p = *(const float4 *)&as[i][ty * TM], q = *(const float4 *)&bs[i][tx * TN];
            float column[TM] = {p.x, p.y, p.z, p.w}, row[TN] = {q.x, q.y, q.z, q.w};
            for (int y = 0; y < TM; y++) {
                for (int x = 0; x < TN; x++) {
                    sums[y][x] += column[y] * row[x];
                }
            }
        }
        __syncthreads();
    }
    for (int y = 0; y < TM; y++) {
        *(float4 *)&c[(ty * TM + y) * n + tx * TN] = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
    }
}
