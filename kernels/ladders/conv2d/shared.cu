// Convolution of an image with 5 by 5 weights, version 4 of 5: a tile with its edge in shared memory
#include "digest.h"

const int RADIUS = 2, SIZE = 2 * RADIUS + 1, TX = 32, TY = 8, WIDE = TX + 2 * RADIUS, HIGH = TY + 2 * RADIUS;

__constant__ float weights[SIZE * SIZE];

extern "C" __global__ void convolve(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH][WIDE];
    int x = blockIdx.x * TX + threadIdx.x;
    int y = blockIdx.y * TY + threadIdx.y;
    int pitch = width + 2 * RADIUS;
    for (int j = threadIdx.y; j < HIGH; j += TY) {
        for (int i = threadIdx.x; i < WIDE; i += TX) {
            tile[j][i] = in[(blockIdx.y * TY + j) * pitch + blockIdx.x * TX + i];
        }
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int j = 0; j < SIZE; j++) {
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            sum += weights[j * SIZE + i] * tile[threadIdx.y + j][threadIdx.x + i];
        }
    }
    out[y * width + x] = sum;
}
