// Histogram of bytes, version 1 of 5: atomic additions in global memory
extern "C" __global__ void histogram(const unsigned char *in, unsigned *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[in[i]], 1);
    }
}
