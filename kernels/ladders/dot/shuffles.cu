// Dot product, version 3 of 5: all threads add up: warps by shuffles, then the first warp
extern "C" __global__ void dot(const float *x, const float *y, float *sum, int n) {
    __shared__ float warps[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float all = i < n ? x[i] * y[i] : 0;
    for (int d = 16; d > 0; d /= 2) {
        all += __shfl_down_sync(0xffffffff, all, d);
    }
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = all;
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        all = warps[threadIdx.x];
        for (int d = 4; d > 0; d /= 2) {
            all += __shfl_down_sync(0xff, all, d);
        }
        if (threadIdx.x == 0) {
            atomicAdd(sum, all);
        }
    }
}
