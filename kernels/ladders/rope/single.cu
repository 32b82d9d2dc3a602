// Rotary embedding of 256 positions and 64 heads of 64, version 2 of 5: single precision
#include "digest.h"

const int HEADS = 64, HALF = 32;

extern "C" __global__ void rotate(const float *x, float *out, int pairs) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < pairs) {
        int i = n % HALF, position = n / (HALF * HEADS);
        float angle = position / powf(10000.0f, (float)i / HALF);
        float c = cosf(angle), s = sinf(angle);
        float a = x[2 * n], b = x[2 * n + 1];
        out[2 * n] = a * c - b * s;
        out[2 * n + 1] = a * s + b * c;
    }
}
