// Sparse matrix (CSR) times vector, version 4 of 4: a block multiplies the elements of its 16 rows one after the
// other, whatever their rows, and then adds up by rows: all loads coalesced, lanes full
#include "digest.h"

const int ROWS = 16, MOST = 2048;

extern "C" __global__ void spmv(const int *__restrict__ starts, const int *__restrict__ cols, const float *__restrict__ values,
                                const float *__restrict__ x, float *__restrict__ y, int rows) {
    __shared__ float products[MOST];
    int t = threadIdx.x, first = blockIdx.x * ROWS;
    int begin = starts[first], end = starts[first + ROWS];
    for (int i = t; i < end - begin; i += blockDim.x) {
        products[i] = values[begin + i] * x[cols[begin + i]];
    }
    __syncthreads();
    int row = first + t / 8, lane = t % 8;
    float sum = 0;
    for (int i = starts[row] - begin + lane; i < starts[row + 1] - begin; i += 8) {
        sum += products[i];
    }
    for (int d = 4; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
