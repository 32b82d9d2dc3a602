// Histogram of bytes, version 5 of 5: a histogram for every warp: fewer threads meet in one counter
const int WARPS = 8;

extern "C" __global__ void histogram(const unsigned *in, unsigned *counts, int n) {
    __shared__ unsigned all[WARPS][256 + 1];
    for (int w = 0; w < WARPS; w++) {
        all[w][threadIdx.x] = 0;
    }
    __syncthreads();
    unsigned *own = all[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        unsigned v = in[i];
        atomicAdd(&own[v & 255], 1);
        atomicAdd(&own[v >> 8 & 255], 1);
        atomicAdd(&own[v >> 16 & 255], 1);
        atomicAdd(&own[v >> 24], 1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < WARPS; w++) {
        sum += all[w][threadIdx.x];
    }
    if (sum > 0) {
        atomicAdd(&counts[threadIdx.x], sum);
    }
}
