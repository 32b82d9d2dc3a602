// Softmax of rows, version 5 of 6: a lane keeps its part of the row in registers: one pass over memory, one
// exponential an element
#include "digest.h"

const int COLS = 256, ITEMS = COLS / 32;

extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols) {
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const float *x = in + row * cols;
    float *y = out + row * cols;
    float v[ITEMS], largest = -3.4e38f;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        v[i] = x[lane + 32 * i];
        largest = fmaxf(largest, v[i]);
    }
    for (int d = 16; d > 0; d /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        v[i] = expf(v[i] - largest);
        sum += v[i];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    float scale = 1 / sum;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        y[lane + 32 * i] = v[i] * scale;
    }
}
