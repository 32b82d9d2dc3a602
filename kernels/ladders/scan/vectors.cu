// Inclusive prefix sums of an array, version 5 of 5: a thread adds up four neighbouring elements of one load before
// the warp scans
#include "digest.h"

extern "C" __global__ void scan_blocks(const float4 *in, float4 *out, float *sums) {
    __shared__ float warps[8];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 256 + t;
    float4 v = in[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    float sum = v.w;
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(0xffffffff, sum, d);
        sum += lane >= d ? other : 0;
    }
    if (lane == 31) {
        warps[t / 32] = sum;
    }
    __syncthreads();
    float before = sum - v.w;
    for (int w = 0; w < t / 32; w++) {
        before += warps[w];
    }
    out[i] = make_float4(before + v.x, before + v.y, before + v.z, before + v.w);
    if (t == 255) {
        sums[blockIdx.x] = before + v.w;
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
