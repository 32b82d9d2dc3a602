// spmv multiplies a sparse matrix in compressed-row form by a vector, one row a thread.
// Rows differ in length, so lanes of a warp leave the loop at different times, and neighbouring lanes read the values of
// different rows, far apart.
extern "C" __global__ void spmv(int rows, const int *start, const int *column, const float *value, const float *x, float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int i = start[row]; i < start[row + 1]; i++) {
        sum += value[i] * x[column[i]];
    }
    y[row] = sum;
}
