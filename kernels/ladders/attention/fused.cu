// Attention of 32 heads over 128 positions, version 3 of 5: one kernel with the online softmax: a thread a query,
// keys and values in shared memory, no scores in global memory
#include "digest.h"

const int LENGTH = 128, DIM = 32, TILE = 32;

extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out) {
    __shared__ float keys[TILE][DIM], values[TILE][DIM];
    int t = threadIdx.x, head = blockIdx.y, row = (head * LENGTH + blockIdx.x * 32 + t) * DIM;
    float query[DIM], sums[DIM] = {};
    for (int d = 0; d < DIM; d++) {
        query[d] = q[row + d] * rsqrtf(DIM);
    }
    float largest = -3.4e38f, total = 0;
    for (int first = 0; first < LENGTH; first += TILE) {
        for (int j = 0; j < TILE; j++) {
            keys[j][t] = k[(head * LENGTH + first + j) * DIM + t];
            values[j][t] = v[(head * LENGTH + first + j) * DIM + t];
        }
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < TILE; j++) {
            float score = 0;
            for (int d = 0; d < DIM; d++) {
                score += query[d] * keys[j][d];
            }
            float next = fmaxf(largest, score), old = __expf(largest - next), weight = __expf(score - next);
            largest = next;
            total = total * old + weight;
            for (int d = 0; d < DIM; d++) {
                sums[d] = sums[d] * old + weight * values[j][d];
            }
        }
        __syncthreads();
    }
    for (int d = 0; d < DIM; d++) {
        out[row + d] = sums[d] / total;
    }
}
