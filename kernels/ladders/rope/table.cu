// Rotary embedding of 256 positions and 64 heads of 64, version 4 of 5: sines and cosines come from a table, pairs
// in 8 bytes
#include "digest.h"

const int HEADS = 64, HALF = 32;

extern "C" __global__ void rotate(const float2 *x, const float2 *table, float2 *out, int pairs) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < pairs) {
        int i = n % HALF, position = n / (HALF * HEADS);
        float2 turn = table[position * HALF + i], v = x[n];
        out[n] = make_float2(v.x * turn.x - v.y * turn.y, v.x * turn.y + v.y * turn.x);
    }
}
