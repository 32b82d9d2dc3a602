// histogram_shared counts byte values in shared memory and adds each block's counts to global memory at the end.
// Conflicts stay inside the SM: the partner of histogram_global.
extern "C" __global__ void histogram_shared(const unsigned char *data, int n, unsigned *bins) {
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        local[b] = 0;
    }
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&local[data[i]], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) {
        if (local[b] > 0) {
            atomicAdd(&bins[b], local[b]);
        }
    }
}
