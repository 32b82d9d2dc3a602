// Fourier transforms of 1,024 signals of 256 points, version 1 of 5: a kernel a stage, the signals in global memory
// in between
#include "digest.h"

extern "C" __global__ void reorder(const float2 *x, float2 *y) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int signal = n / 256, i = n % 256;
    y[signal * 256 + (__brev(i) >> 24)] = x[n];
}

extern "C" __global__ void stage(float2 *y, int half) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int signal = n / 128, t = n % 128, k = t % half, i = signal * 256 + t / half * 2 * half + k;
    float s, c;
    sincosf(-3.14159265f * k / half, &s, &c);
    float2 a = y[i], b = y[i + half];
    float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    y[i] = make_float2(a.x + turned.x, a.y + turned.y);
    y[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
}
