// Softmax of rows, version 4 of 6: the online algorithm: maximum and sum in one pass, nothing stored before the last
#include "digest.h"

extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols) {
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    const float *x = in + row * cols;
    float *y = out + row * cols;
    float largest = -3.4e38f, sum = 0;
    for (int i = lane; i < cols; i += 32) {
        float v = x[i], next = fmaxf(largest, v);
        sum = sum * expf(largest - next) + expf(v - next);
        largest = next;
    }
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_xor_sync(0xffffffff, largest, d), next = fmaxf(largest, other);
        sum = sum * expf(largest - next) + __shfl_xor_sync(0xffffffff, sum, d) * expf(other - next);
        largest = next;
    }
    float scale = 1 / sum;
    for (int i = lane; i < cols; i += 32) {
        y[i] = expf(x[i] - largest) * scale;
    }
}
