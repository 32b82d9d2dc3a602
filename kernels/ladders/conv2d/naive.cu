// Convolution of an image with 5 by 5 weights, version 1 of 5: weights in global memory, their number known at run
// time
#include "digest.h"

extern "C" __global__ void convolve(const float *in, const float *weights, float *out, int width, int height, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int size = 2 * radius + 1, pitch = width + 2 * radius;
    float sum = 0;
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            sum += weights[j * size + i] * in[(y + j) * pitch + x + i];
        }
    }
    out[y * width + x] = sum;
}
