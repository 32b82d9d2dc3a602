// Inclusive prefix sums of an array, version 4 of 5: warps scan by shuffles: one barrier
#include "digest.h"

extern "C" __global__ void scan_blocks(const float *in, float *out, float *sums) {
    __shared__ float warps[8];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 256 + t;
    float v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(0xffffffff, v, d);
        v += lane >= d ? other : 0;
    }
    if (lane == 31) {
        warps[t / 32] = v;
    }
    __syncthreads();
    for (int w = 0; w < t / 32; w++) {
        v += warps[w];
    }
    out[i] = v;
    if (t == 255) {
        sums[blockIdx.x] = v;
    }
}

extern "C" __global__ void scan_sums(float *sums, int n) {
    __shared__ float warps[32];
    int t = threadIdx.x, lane = t % 32;
    float carry = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        float v = first + t < n ? sums[first + t] : 0;
        for (int d = 1; d < 32; d *= 2) {
            float other = __shfl_up_sync(0xffffffff, v, d);
            v += lane >= d ? other : 0;
        }
        if (lane == 31) {
            warps[t / 32] = v;
        }
        __syncthreads();
        if (t < 32) {
            float w = warps[t];
            for (int d = 1; d < 32; d *= 2) {
                float other = __shfl_up_sync(0xffffffff, w, d);
                w += lane >= d ? other : 0;
            }
            warps[t] = w;
        }
        __syncthreads();
        v += carry + (t >= 32 ? warps[t / 32 - 1] : 0);
        if (first + t < n) {
            sums[first + t] = v;
        }
        carry += warps[31];
        __syncthreads();
    }
}

extern "C" __global__ void add_sums(float *out, const float *sums, int items) {
    if (blockIdx.x > 0) {
        float before = sums[blockIdx.x - 1];
        for (int i = threadIdx.x; i < items; i += blockDim.x) {
            out[blockIdx.x * items + i] += before;
        }
    }
}
