// Transpose of a matrix, version 4 of 4: a thread takes four elements of a column: fewer threads, four loads in
// flight
#include "digest.h"

const int TILE = 32, ROWS = 8;

extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        if (x < cols && y + i < rows) {
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * cols + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int i = 0; i < TILE; i += ROWS) {
        if (x < rows && y + i < cols) {
            out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
        }
    }
}
