// Rotary embedding of 256 positions and 64 heads of 64, version 1 of 5: angles in double precision, as the formula
// says, and each thread its own
#include "digest.h"

const int HEADS = 64, HALF = 32;

extern "C" __global__ void rotate(const float *x, float *out, int pairs) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < pairs) {
        int i = n % HALF, position = n / (HALF * HEADS);
        double angle = position / pow(10000.0, (double)i / HALF);
        float c = cos(angle), s = sin(angle);
        float a = x[2 * n], b = x[2 * n + 1];
        out[2 * n] = a * c - b * s;
        out[2 * n + 1] = a * s + b * c;
    }
}
