// rows_tiny subtracts a multiple of one row of a matrix from another, as Gaussian elimination does.
// Blocks of 16 threads: half of each warp is missing, and an SM holds few warps. Its partner is rows_full.
extern "C" __global__ void rows_tiny(const float *pivot, float *rows, const float *factor, int columns, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        rows[i] -= factor[i / columns] * pivot[i % columns];
    }
}
