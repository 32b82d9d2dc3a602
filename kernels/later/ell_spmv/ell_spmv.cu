// ell_spmv multiplies a sparse matrix in ELLPACK form, columns of the form one after the other, with a vector.
extern "C" __global__ void ell_spmv(const int *column, const float *value, const float *x, float *y, int rows, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < width; k++) {
        int c = column[k * rows + row];
        if (c >= 0) {
            sum += value[k * rows + row] * x[c];
        }
    }
    y[row] = sum;
}
