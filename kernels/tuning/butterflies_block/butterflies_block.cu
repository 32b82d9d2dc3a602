// Walsh-Hadamard transform of rows of 512 numbers: a block a row, which stays in shared memory from step to step.
extern "C" __global__ void butterflies_block(int *x)
{
    __shared__ int row[512];
    int *from = x + 512 * blockIdx.x;
    row[threadIdx.x] = from[threadIdx.x];
    row[threadIdx.x + 256] = from[threadIdx.x + 256];
    for (int distance = 1; distance < 512; distance *= 2) {
        int low = (threadIdx.x & -distance) * 2 + (threadIdx.x & (distance - 1));
        __syncthreads();
        int a = row[low], b = row[low + distance];
        row[low] = a + b;
        row[low + distance] = a - b;
    }
    __syncthreads();
    from[threadIdx.x] = row[threadIdx.x];
    from[threadIdx.x + 256] = row[threadIdx.x + 256];
}
