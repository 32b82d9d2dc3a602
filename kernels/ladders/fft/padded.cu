// Fourier transforms of 1,024 signals of 256 points, version 5 of 5: a place between every 16 in shared memory:
// fewer bank conflicts
#include "digest.h"

__device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 operator*(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ int pad(int i) { return i + i / 16; }

extern "C" __global__ void fft(const float2 *x, const float2 *roots, float2 *y) {
    __shared__ float2 signal[256 + 16];
    int t = threadIdx.x;
    x += blockIdx.x * 256;
    y += blockIdx.x * 256;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = t + 64 * j, swapped = __brev(i) >> 24;
        signal[pad((swapped & 0x55) << 1 | (swapped & 0xaa) >> 1)] = x[i]; // digits of base 4 in reverse
    }
#pragma unroll
    for (int bits = 0; bits < 8; bits += 2) {
        __syncthreads();
        int quarter = 1 << bits, k = t & quarter - 1, i = (t >> bits << bits + 2) + k, step = k << 6 - bits;
        float2 a = signal[pad(i)], b = signal[pad(i + quarter)], c = signal[pad(i + 2 * quarter)], d = signal[pad(i + 3 * quarter)];
        b = b * roots[step];
        c = c * roots[2 * step];
        d = d * roots[3 * step];
        float2 even = a + c, odd = a - c, sum = b + d, difference = b - d;
        float2 turned = make_float2(difference.y, -difference.x);
        signal[pad(i)] = even + sum;
        signal[pad(i + quarter)] = odd + turned;
        signal[pad(i + 2 * quarter)] = even - sum;
        signal[pad(i + 3 * quarter)] = odd - turned;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 4; j++) {
        y[t + 64 * j] = signal[pad(t + 64 * j)];
    }
}
