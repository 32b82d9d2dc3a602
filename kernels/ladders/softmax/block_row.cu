// Softmax of rows, version 2 of 6: a block a row: neighbouring threads take neighbouring elements
#include "digest.h"

__device__ float reduce(float v, float *shared, bool sums) {
    int t = threadIdx.x;
    shared[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            shared[t] = sums ? shared[t] + shared[t + s] : fmaxf(shared[t], shared[t + s]);
        }
        __syncthreads();
    }
    float all = shared[0];
    __syncthreads();
    return all;
}

extern "C" __global__ void softmax(const float *in, float *out, int rows, int cols) {
    __shared__ float shared[128];
    const float *x = in + blockIdx.x * cols;
    float *y = out + blockIdx.x * cols;
    float largest = -3.4e38f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, x[i]);
    }
    largest = reduce(largest, shared, false);
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        y[i] = expf(x[i] - largest);
        sum += y[i];
    }
    sum = reduce(sum, shared, true);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        y[i] /= sum;
    }
}
