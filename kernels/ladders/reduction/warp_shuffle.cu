// Sum of an array, version 5 of 7: warps add up by shuffles, and shared memory holds a sum a warp: one barrier
extern "C" __global__ void reduce(const int *__restrict__ in, int *out, int n) {
    __shared__ int sums[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int i = blockIdx.x * blockDim.x * 2 + t;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) {
        sum += in[i + blockDim.x];
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
