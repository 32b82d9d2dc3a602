// Kernels whose rounds depend on each other, or whose barriers order copies. Built by
// NVRTC 12.9 with -lineinfo for sm_70 and sm_80, as kernels/rebuild.py builds the corpus.
#include <cuda_pipeline.h>

// Each round reads from memory what the one before has stored.
extern "C" __global__ void in_memory(float *y, int n) {
    y += (blockIdx.x * blockDim.x + threadIdx.x) * n;
#pragma unroll 1
    for (int k = 1; k < n; k++) y[k] = ((volatile float *)y)[k - 1] * .5f + 1.f;
}

// The same with the value kept in a register.
extern "C" __global__ void in_register(float *y, int n) {
    y += (blockIdx.x * blockDim.x + threadIdx.x) * n;
    float v = y[0];
#pragma unroll 1
    for (int k = 1; k < n; k++) {
        v = v * .5f + 1.f;
        y[k] = v;
    }
}

// A sum, whose rounds can be divided.
extern "C" __global__ void reduction(const float *y, float *z, int n) {
    y += (blockIdx.x * blockDim.x + threadIdx.x) * n;
    float v = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) v += y[k] * .5f + 1.f;
    z[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// A pipeline of three tiles: the barrier behind the wait orders the copies of the other threads with the reads, and the reads of
// the round before with the copies.
extern "C" __global__ void three_stages(const float4 *in, float *out, int rounds) {
    __shared__ float4 tile[3][128];
    int t = threadIdx.x;
    in += (size_t)blockIdx.x * rounds * 128;
    for (int s = 0; s < 2; s++) {
        if (s < rounds) __pipeline_memcpy_async(&tile[s][t], in + s * 128 + t, 16);
        __pipeline_commit();
    }
    float sum = 0;
    for (int k = 0; k < rounds; k++) {
        __pipeline_wait_prior(1);
        __syncthreads();
        if (k + 2 < rounds) __pipeline_memcpy_async(&tile[(k + 2) % 3][t], in + (k + 2) * 128 + t, 16);
        __pipeline_commit();
        for (int j = 0; j < 4; j++) {
            float4 v = tile[k % 3][(t * 5 + j * 37) % 128];
            sum += v.x * v.y + v.z * v.w;
        }
    }
    out[blockIdx.x * 128 + t] = sum;
}
