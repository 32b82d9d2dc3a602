// Sums of the columns of a matrix, as for the gradient of a bias, version 2 of 4: a block for 32 columns: its warps
// share the rows and put their sums together in shared memory
extern "C" __global__ void colsum(const float *in, float *out, int rows, int cols) {
    __shared__ float sums[32][32];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int row = threadIdx.y; row < rows; row += 32) {
        sum += in[row * cols + col];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int y = 1; y < 32; y++) {
            sum += sums[y][threadIdx.x];
        }
        out[col] = sum;
    }
}
