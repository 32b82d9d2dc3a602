// Attention of 32 heads over 128 positions, version 5 of 5: scores of eight keys before the sums are rescaled once:
// fewer exponentials and shorter chains
#include "digest.h"

const int LENGTH = 128, DIM = 32, TILE = 32, PART = DIM / 4, GROUP = 8;

extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out) {
    __shared__ float keys[TILE][DIM], values[TILE][DIM];
    int t = threadIdx.x, part = t % 4, head = blockIdx.y, row = (head * LENGTH + blockIdx.x * 32 + t / 4) * DIM + part * PART;
    float query[PART], sums[PART] = {};
    for (int d = 0; d < PART; d++) {
        query[d] = q[row + d] * rsqrtf(DIM);
    }
    float largest = -3.4e38f, total = 0;
    for (int first = 0; first < LENGTH; first += TILE) {
        for (int n = t; n < TILE * DIM; n += 128) {
            keys[n / DIM][n % DIM] = k[(head * LENGTH + first) * DIM + n];
            values[n / DIM][n % DIM] = v[(head * LENGTH + first) * DIM + n];
        }
        __syncthreads();
        for (int j0 = 0; j0 < TILE; j0 += GROUP) {
            float scores[GROUP], next = largest;
#pragma unroll
            for (int j = 0; j < GROUP; j++) {
                scores[j] = 0;
                for (int d = 0; d < PART; d++) {
                    scores[j] += query[d] * keys[j0 + j][part * PART + d];
                }
                scores[j] += __shfl_xor_sync(0xffffffff, scores[j], 1);
                scores[j] += __shfl_xor_sync(0xffffffff, scores[j], 2);
                next = fmaxf(next, scores[j]);
            }
            float old = __expf(largest - next);
            largest = next;
            total *= old;
            for (int d = 0; d < PART; d++) {
                sums[d] *= old;
            }
#pragma unroll
            for (int j = 0; j < GROUP; j++) {
                float weight = __expf(scores[j] - next);
                total += weight;
                for (int d = 0; d < PART; d++) {
                    sums[d] += weight * values[j0 + j][part * PART + d];
                }
            }
        }
        __syncthreads();
    }
    for (int d = 0; d < PART; d++) {
        out[row + d] = sums[d] / total;
    }
}
