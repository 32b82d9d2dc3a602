// histogram_global counts byte values with atomic additions to global memory.
// The values bunch around their mean, so that lanes of a warp, and warps of all SMs, update the same few addresses. Its
// partner is histogram_shared.
extern "C" __global__ void histogram_global(const unsigned char *data, int n, unsigned *bins) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&bins[data[i]], 1u);
    }
}
