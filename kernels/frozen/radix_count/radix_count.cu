// radix_count is the first pass of a radix sort: every block counts the sixteen digits of its keys, each warp on counters of
// its own in shared memory, and adds the warps up.
extern "C" __global__ void radix_count(const unsigned *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned digits[8][16];
    int warp = threadIdx.x / 32;
    if (threadIdx.x < 128) {
        digits[threadIdx.x / 16][threadIdx.x % 16] = 0;
    }
    __syncthreads();
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        if (i < n) {
            atomicAdd(&digits[warp][keys[i] >> shift & 15], 1u);
        }
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        unsigned sum = 0;
        for (int w = 0; w < 8; w++) {
            sum += digits[w][threadIdx.x];
        }
        counts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
    }
}
