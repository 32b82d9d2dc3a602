// Fourier transforms of 1,024 signals of 256 points, version 3 of 5: the roots of unity come from a table; a mask
// and a shift instead of a remainder
#include "digest.h"

extern "C" __global__ void fft(const float2 *x, const float2 *roots, float2 *y) {
    __shared__ float2 signal[256];
    int t = threadIdx.x;
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    signal[__brev(t) >> 24] = x[t];
    signal[__brev(t + 128) >> 24] = x[t + 128];
    for (int bits = 0; bits < 8; bits++) {
        __syncthreads();
        int half = 1 << bits, k = t & half - 1, i = (t >> bits << bits + 1) + k;
        float2 root = roots[k << 7 - bits];
        float c = root.x, s = root.y;
        float2 a = signal[i], b = signal[i + half];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        signal[i] = make_float2(a.x + turned.x, a.y + turned.y);
        signal[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    y[t] = signal[t];
    y[t + 128] = signal[t + 128];
}
