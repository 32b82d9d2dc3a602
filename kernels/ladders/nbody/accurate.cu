// Forces between 2,048 bodies, version 1 of 5: a thread a body; a root and a division
#include "digest.h"

extern "C" __global__ void forces(const float4 *bodies, float4 *forces, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i], sum = make_float4(0, 0, 0, 0);
    for (int j = 0; j < n; j++) {
        float4 other = bodies[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
        float strength = other.w / (r2 * sqrtf(r2));
        sum.x += strength * dx;
        sum.y += strength * dy;
        sum.z += strength * dz;
    }
    forces[i] = sum;
}
