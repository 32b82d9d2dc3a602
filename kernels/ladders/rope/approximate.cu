// Rotary embedding of 256 positions and 64 heads of 64, version 3 of 5: a base-2 exponential instead of the power
// and the division, sine and cosine together
#include "digest.h"

const int HEADS = 64, HALF = 32;

extern "C" __global__ void rotate(const float *x, float *out, int pairs) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < pairs) {
        int i = n % HALF, position = n / (HALF * HEADS);
        float angle = position * exp2f(i * (-13.287712f / HALF)), c, s;
        sincosf(angle, &s, &c);
        float a = x[2 * n], b = x[2 * n + 1];
        out[2 * n] = a * c - b * s;
        out[2 * n + 1] = a * s + b * c;
    }
}
