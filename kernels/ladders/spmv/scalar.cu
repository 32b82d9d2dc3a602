// Sparse matrix (CSR) times vector, version 1 of 4: a thread a row
#include "digest.h"

extern "C" __global__ void spmv(const int *starts, const int *cols, const float *values, const float *x, float *y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = starts[row]; i < starts[row + 1]; i++) {
            sum += values[i] * x[cols[i]];
        }
        y[row] = sum;
    }
}
