// Matrix product in single precision, version 7 of 7: the next tiles are loaded into registers while these are
// worked on, and go to a second buffer: one barrier a tile
#include "digest.h"

const int BM = 64, BN = 64, BK = 16, TM = 4, TN = 4;

extern "C" __global__ void sgemm(int m, int n, int k, const float *a, const float *b, float *c) {
    __shared__ __align__(16) float as[2][BK][BM], bs[2][BK][BN];
    int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
    int ai = t % (BK / 4) * 4, aj = t / (BK / 4), bi = t / (BN / 4), bj = t % (BN / 4) * 4;
    a += blockIdx.y * BM * k + aj * k + ai;
    b += blockIdx.x * BN + bi * n + bj;
    c += blockIdx.y * BM * n + blockIdx.x * BN;
    float sums[TM][TN] = {};
    float4 va = *(const float4 *)a, vb = *(const float4 *)b;
    int now = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        as[now][ai][aj] = va.x;
        as[now][ai + 1][aj] = va.y;
        as[now][ai + 2][aj] = va.z;
        as[now][ai + 3][aj] = va.w;
        *(float4 *)&bs[now][bi][bj] = vb;
        __syncthreads();
        if (k0 + BK < k) {
            va = *(const float4 *)(a + k0 + BK);
            vb = *(const float4 *)(b + (k0 + BK) * n);
        }
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 p = *(const float4 *)&as[now][i][ty * TM], q = *(const float4 *)&bs[now][i][tx * TN];
            float column[TM] = {p.x, p.y, p.z, p.w}, row[TN] = {q.x, q.y, q.z, q.w};
            for (int y = 0; y < TM; y++) {
                for (int x = 0; x < TN; x++) {
                    sums[y][x] += column[y] * row[x];
                }
            }
        }
        now ^= 1;
    }
    for (int y = 0; y < TM; y++) {
        *(float4 *)&c[(ty * TM + y) * n + tx * TN] = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
    }
}
