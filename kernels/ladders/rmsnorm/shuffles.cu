// Sum with the residual and RMS norm, version 3 of 4: shuffles inside of warps, one barrier; a reciprocal root
// instead of a division an element
#include "digest.h"

extern "C" __global__ void rmsnorm(const float *x, const float *residual, float *added, const float *weight, float *out, int cols) {
    __shared__ float sums[8];
    int t = threadIdx.x, row = blockIdx.x * cols;
    float sum = 0;
    for (int i = t; i < cols; i += blockDim.x) {
        float v = x[row + i] + residual[row + i];
        added[row + i] = v;
        sum += v * v;
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    if (t % 32 == 0) {
        sums[t / 32] = sum;
    }
    __syncthreads();
    sum = sums[t % 8];
    for (int d = 4; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    float scale = rsqrtf(sum / cols + 1e-6f);
    for (int i = t; i < cols; i += blockDim.x) {
        out[row + i] = added[row + i] * scale * weight[i];
    }
}
