// Forces between 2,048 bodies, version 4 of 5: the bodies that act are divided among 32 blocks, which add their
// parts atomically
#include "digest.h"

const int TILE = 64;

extern "C" __global__ void forces(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i], sum = make_float4(0, 0, 0, 0);
    if (threadIdx.x < TILE) {
        tile[threadIdx.x] = bodies[blockIdx.y * TILE + threadIdx.x];
    }
    __syncthreads();
    for (int j = 0; j < TILE; j++) {
        float4 other = tile[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
        float strength = other.w * inverse * inverse * inverse;
        sum.x += strength * dx;
        sum.y += strength * dy;
        sum.z += strength * dz;
    }
    atomicAdd(&forces[i].x, sum.x);
    atomicAdd(&forces[i].y, sum.y);
    atomicAdd(&forces[i].z, sum.z);
}
