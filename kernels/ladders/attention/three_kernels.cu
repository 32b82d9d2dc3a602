// Attention of 32 heads over 128 positions, version 1 of 5: products, softmax and the sum of the values in a kernel
// each; the scores lie in global memory
#include "digest.h"

const int LENGTH = 128, DIM = 32;

extern "C" __global__ void scores(const float *q, const float *k, float *scores) {
    int j = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    float sum = 0;
    for (int d = 0; d < DIM; d++) {
        sum += q[(head * LENGTH + i) * DIM + d] * k[(head * LENGTH + j) * DIM + d];
    }
    scores[(head * LENGTH + i) * LENGTH + j] = sum * rsqrtf(DIM);
}

extern "C" __global__ void softmax(float *scores) {
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    float *s = scores + row * LENGTH;
    float largest = -3.4e38f, sum = 0;
    for (int i = lane; i < LENGTH; i += 32) {
        largest = fmaxf(largest, s[i]);
    }
    for (int d = 16; d > 0; d /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
    }
    for (int i = lane; i < LENGTH; i += 32) {
        s[i] = __expf(s[i] - largest);
        sum += s[i];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    for (int i = lane; i < LENGTH; i += 32) {
        s[i] /= sum;
    }
}

extern "C" __global__ void values(const float *scores, const float *v, float *out) {
    int d = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    const float *s = scores + (head * LENGTH + i) * LENGTH;
    float sum = 0;
    for (int j = 0; j < LENGTH; j++) {
        sum += s[j] * v[(head * LENGTH + j) * DIM + d];
    }
    out[(head * LENGTH + i) * DIM + d] = sum;
}
