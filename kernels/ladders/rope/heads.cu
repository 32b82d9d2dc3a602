// Rotary embedding of 256 positions and 64 heads of 64, version 5 of 5: a thread turns two pairs of two heads by the
// same angles: 16 bytes an access, and the table is read once for both
#include "digest.h"

const int HEADS = 64, HALF = 32, GROUP = 2;

extern "C" __global__ void rotate(const float4 *__restrict__ x, const float4 *__restrict__ table, float4 *__restrict__ out) {
    int i = threadIdx.x % (HALF / 2), head = threadIdx.x / (HALF / 2) * GROUP, position = blockIdx.x;
    float4 turn = table[position * HALF / 2 + i];
#pragma unroll
    for (int h = 0; h < GROUP; h++) {
        int n = (position * HEADS + head + h) * HALF / 2 + i;
        float4 v = x[n];
        out[n] = make_float4(v.x * turn.x - v.y * turn.y, v.x * turn.y + v.y * turn.x,
                             v.z * turn.z - v.w * turn.w, v.z * turn.w + v.w * turn.z);
    }
}
