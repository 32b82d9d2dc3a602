// Attention of 32 heads over 128 positions, version 4 of 5: four lanes share a query: each has a quarter of its
// dimensions; four times the threads, a quarter of the registers
#include "digest.h"

const int LENGTH = 128, DIM = 32, TILE = 32, PART = DIM / 4;

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
        for (int j = 0; j < TILE; j++) {
            float score = 0;
            for (int d = 0; d < PART; d++) {
                score += query[d] * keys[j][part * PART + d];
            }
            score += __shfl_xor_sync(0xffffffff, score, 1);
            score += __shfl_xor_sync(0xffffffff, score, 2);
            float next = fmaxf(largest, score), old = __expf(largest - next), weight = __expf(score - next);
            largest = next;
            total = total * old + weight;
            for (int d = 0; d < PART; d++) {
                sums[d] = sums[d] * old + weight * values[j][part * PART + d];
            }
        }
        __syncthreads();
    }
    for (int d = 0; d < PART; d++) {
        out[row + d] = sums[d] / total;
    }
}
