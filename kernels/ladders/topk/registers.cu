// The eight largest of each row and their places, version 3 of 5: the list is only indexed by constants, so that it
// lies in registers
#include "digest.h"

const int COLS = 128, K = 8;

extern "C" __global__ void topk(const float *in, float *top, int *places, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float best[K];
    int place[K];
#pragma unroll
    for (int k = 0; k < K; k++) {
        best[k] = -3.4e38f;
        place[k] = -1;
    }
    for (int i = 0; i < COLS; i++) {
        float v = in[row * COLS + i];
        if (v <= best[K - 1]) {
            continue;
        }
#pragma unroll
        for (int k = K - 1; k > 0; k--) {
            bool shift = best[k - 1] < v, here = best[k] < v;
            place[k] = shift ? place[k - 1] : here ? i : place[k];
            best[k] = shift ? best[k - 1] : here ? v : best[k];
        }
        if (best[0] < v) {
            best[0] = v;
            place[0] = i;
        }
    }
#pragma unroll
    for (int k = 0; k < K; k++) {
        top[row * K + k] = best[k];
        places[row * K + k] = place[k];
    }
}
