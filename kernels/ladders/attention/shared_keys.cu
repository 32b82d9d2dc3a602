// Attention of 32 heads over 128 positions, version 2 of 5: the keys of a head go to shared memory by coalesced
// loads, in padded rows
#include "digest.h"

const int LENGTH = 128, DIM = 32;

extern "C" __global__ void scores(const float *q, const float *k, float *scores) {
    __shared__ float keys[LENGTH][DIM + 1], queries[8][DIM];
    int j = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int n = t; n < LENGTH * DIM; n += 1024) {
        keys[n / DIM][n % DIM] = k[head * LENGTH * DIM + n];
    }
    if (t < 8 * DIM) {
        queries[t / DIM][t % DIM] = q[(head * LENGTH + blockIdx.x * 8) * DIM + t];
    }
    __syncthreads();
    float sum = 0;
    for (int d = 0; d < DIM; d++) {
        sum += queries[threadIdx.y][d] * keys[j][d];
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
