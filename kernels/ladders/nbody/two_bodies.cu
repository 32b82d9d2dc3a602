// Forces between 2,048 bodies, version 5 of 5: a thread has two bodies: what it reads of the tile serves both
#include "digest.h"

const int TILE = 64, OWN = 2;

extern "C" __global__ void forces(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * blockDim.x * OWN + threadIdx.x;
    float4 me[OWN], sums[OWN] = {};
    for (int k = 0; k < OWN; k++) {
        me[k] = bodies[i + k * blockDim.x];
    }
    if (threadIdx.x < TILE) {
        tile[threadIdx.x] = bodies[blockIdx.y * TILE + threadIdx.x];
    }
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < TILE; j++) {
        float4 other = tile[j];
        for (int k = 0; k < OWN; k++) {
            float dx = other.x - me[k].x, dy = other.y - me[k].y, dz = other.z - me[k].z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float strength = other.w * inverse * inverse * inverse;
            sums[k].x += strength * dx;
            sums[k].y += strength * dy;
            sums[k].z += strength * dz;
        }
    }
    for (int k = 0; k < OWN; k++) {
        atomicAdd(&forces[i + k * blockDim.x].x, sums[k].x);
        atomicAdd(&forces[i + k * blockDim.x].y, sums[k].y);
        atomicAdd(&forces[i + k * blockDim.x].z, sums[k].z);
    }
}
