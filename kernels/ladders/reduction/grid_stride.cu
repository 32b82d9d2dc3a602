// Sum of an array, version 6 of 7: as many blocks as the GPU holds, each in a grid-stride loop
extern "C" __global__ void reduce(const int *__restrict__ in, int *out, int n) {
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, d);
    }
    if (lane == 0) {
        sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, d);
        }
        if (lane == 0) {
            atomicAdd(out, sum);
        }
    }
}
