// Softmax of rows, version 1 of 6: a thread a row, in three passes
#include "digest.h"

extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float *x = in + row * cols;
    float *y = out + row * cols;
    float largest = -3.4e38f;
    for (int i = 0; i < cols; i++) {
        largest = fmaxf(largest, x[i]);
    }
    float sum = 0;
    for (int i = 0; i < cols; i++) {
        y[i] = expf(x[i] - largest);
        sum += y[i];
    }
    for (int i = 0; i < cols; i++) {
        y[i] /= sum;
    }
}
