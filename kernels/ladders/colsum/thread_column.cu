// Sums of the columns of a matrix, as for the gradient of a bias, version 1 of 4: a thread a column
extern "C" __global__ void colsum(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < rows; row++) {
        sum += in[row * cols + col];
    }
    out[col] = sum;
}
