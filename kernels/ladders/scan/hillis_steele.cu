// Inclusive prefix sums of an array, version 1 of 5: blocks by the algorithm of Hillis and Steele, the sums of the
// blocks, then these are added
#include "digest.h"

extern "C" __global__ void scan_blocks(const float *in, float *out, float *sums) {
    __shared__ float values[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    values[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        values[1 - from][t] = values[from][t] + (t >= d ? values[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[i] = values[from][t];
    if (t == 255) {
        sums[blockIdx.x] = values[from][t];
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
