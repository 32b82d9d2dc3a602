// Sparse matrix (CSR) times vector, version 2 of 4: a warp a row
#include "digest.h"

extern "C" __global__ void spmv(const int *starts, const int *cols, const float *values, const float *x, float *y, int rows) {
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row < rows) {
        float sum = 0;
        for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) {
            sum += values[i] * x[cols[i]];
        }
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, d);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}
