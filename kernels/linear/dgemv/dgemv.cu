// dgemv computes y = alpha·A·x + beta·y in double precision, one row a thread.
// Neighbouring lanes read neighbouring rows, so every load of A touches 32 sectors. Its partner is dgemv_warp.
extern "C" __global__ void dgemv(int rows, int columns, double alpha, const double *a, const double *x, double beta, double *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        double sum = 0.0;
        for (int j = 0; j < columns; j++) {
            sum += a[row * columns + j] * x[j];
        }
        y[row] = alpha * sum + beta * y[row];
    }
}
