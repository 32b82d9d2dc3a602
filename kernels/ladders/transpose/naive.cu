// Transpose of a matrix, version 1 of 4: a thread an element, reads rows and writes columns
#include "digest.h"

extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int rows, int cols) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows) {
        out[x * rows + y] = in[y * cols + x];
    }
}
