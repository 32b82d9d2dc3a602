// dgemv_warp computes y = alpha·A·x + beta·y in double precision, one row a warp.
// Neighbouring lanes read neighbouring columns, and shuffles add up their sums: the partner of dgemv.
extern "C" __global__ void dgemv_warp(int rows, int columns, double alpha, const double *a, const double *x, double beta, double *y) {
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    for (int j = lane; j < columns; j += 32) {
        sum += a[row * columns + j] * x[j];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    if (lane == 0) {
        y[row] = alpha * sum + beta * y[row];
    }
}
