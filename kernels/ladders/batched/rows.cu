// Products of 16,384 pairs of 8 by 8 matrices, version 5 of 5: a thread computes four elements of a row, with 16
// bytes an access
#include "digest.h"

const int N = 8, MATRICES = 16;

extern "C" __global__ void batched(const float4 *a, const float4 *b, float4 *c, int count) {
    __shared__ float4 bs[MATRICES][N][N / 4];
    int t = threadIdx.x, half = t % 2, i = t / 2 % N;
    for (int part = 0; part < 2; part++) {
        int z = part * 8 + t / (2 * N);
        bs[z][i][half] = b[(blockIdx.x * MATRICES + z) * 2 * N + i * 2 + half];
    }
    __syncthreads();
    for (int part = 0; part < 2; part++) {
        int z = part * 8 + t / (2 * N), matrix = blockIdx.x * MATRICES + z;
        float4 first = a[matrix * 2 * N + i * 2], second = a[matrix * 2 * N + i * 2 + 1];
        float row[N] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
        float4 sum = make_float4(0, 0, 0, 0);
        for (int k = 0; k < N; k++) {
            float4 v = bs[z][k][half];
            sum.x += row[k] * v.x;
            sum.y += row[k] * v.y;
            sum.z += row[k] * v.z;
            sum.w += row[k] * v.w;
        }
        c[matrix * 2 * N + i * 2 + half] = sum;
    }
}
