// Convolution of an image with 5 by 5 weights, version 5 of 5: a thread computes four elements of a column, and
// reads each row of its column once for all of them
#include "digest.h"

const int RADIUS = 2, SIZE = 2 * RADIUS + 1, TX = 32, ROWS = 4, TY = 8 * ROWS, WIDE = TX + 2 * RADIUS, HIGH = TY + 2 * RADIUS;

__constant__ float weights[SIZE * SIZE];

extern "C" __global__ void convolve(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH][WIDE];
    int x = blockIdx.x * TX + threadIdx.x;
    int y = blockIdx.y * TY + threadIdx.y * ROWS;
    int pitch = width + 2 * RADIUS;
    for (int j = threadIdx.y; j < HIGH; j += 8) {
        for (int i = threadIdx.x; i < WIDE; i += TX) {
            tile[j][i] = in[(blockIdx.y * TY + j) * pitch + blockIdx.x * TX + i];
        }
    }
    __syncthreads();
    float sums[ROWS] = {};
#pragma unroll
    for (int j = 0; j < SIZE + ROWS - 1; j++) {
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            float v = tile[threadIdx.y * ROWS + j][threadIdx.x + i];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (j - r >= 0 && j - r < SIZE) {
                    sums[r] += weights[(j - r) * SIZE + i] * v;
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        out[(y + r) * width + x] = sums[r];
    }
}
