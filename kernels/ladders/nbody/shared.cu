// Forces between 2,048 bodies, version 3 of 5: a tile of bodies in shared memory
#include "digest.h"

const int TILE = 256;

extern "C" __global__ void forces(const float4 *bodies, float4 *forces, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = bodies[i], sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first < n; first += TILE) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
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
        __syncthreads();
    }
    forces[i] = sum;
}
