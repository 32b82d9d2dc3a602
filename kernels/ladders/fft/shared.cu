// Fourier transforms of 1,024 signals of 256 points, version 2 of 5: one kernel: a block a signal, which stays in
// shared memory
#include "digest.h"

extern "C" __global__ void fft(const float2 *x, float2 *y) {
    __shared__ float2 signal[256];
    int t = threadIdx.x;
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
    signal[__brev(t) >> 24] = x[t];
    signal[__brev(t + 128) >> 24] = x[t + 128];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int k = t % half, i = t / half * 2 * half + k;
        float s, c;
        sincosf(-3.14159265f * k / half, &s, &c);
        float2 a = signal[i], b = signal[i + half];
        float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
        signal[i] = make_float2(a.x + turned.x, a.y + turned.y);
        signal[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    y[t] = signal[t];
    y[t + 128] = signal[t + 128];
}
