// rows_full subtracts a multiple of one row of a matrix from another, as Gaussian elimination does.
// The partner of rows_tiny: blocks of 256 threads.
extern "C" __global__ void rows_full(const float *pivot, float *rows, const float *factor, int columns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rows[i] -= factor[i / columns] * pivot[i % columns];
    }
}
