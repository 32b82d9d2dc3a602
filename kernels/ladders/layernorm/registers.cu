// Layer norm, version 5 of 5: the row stays in registers between the passes
#include "digest.h"

const int COLS = 512, ITEMS = COLS / 128;

__device__ float sum(float v) {
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_xor_sync(0xffffffff, v, d);
    }
    return v;
}

extern "C" __global__ void layernorm(const float4 *__restrict__ in, const float4 *__restrict__ weight, const float4 *__restrict__ bias,
                                     float4 *__restrict__ out, int rows, int cols) {
    int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float4 v[ITEMS];
    float values = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        v[i] = in[row * COLS / 4 + lane + 32 * i];
    }
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        values += v[i].x + v[i].y + v[i].z + v[i].w;
        squares += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    }
    float mean = sum(values) / COLS;
    float scale = rsqrtf(sum(squares) / COLS - mean * mean + 1e-5f);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        float4 w = weight[lane + 32 * i], b = bias[lane + 32 * i];
        out[row * COLS / 4 + lane + 32 * i] = make_float4((v[i].x - mean) * scale * w.x + b.x, (v[i].y - mean) * scale * w.y + b.y,
                                                          (v[i].z - mean) * scale * w.z + b.z, (v[i].w - mean) * scale * w.w + b.w);
    }
}
