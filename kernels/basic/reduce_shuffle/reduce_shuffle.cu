// reduce_shuffle sums each block's part of an array by warp shuffles.
// Every lane works at every step, and shared memory carries only one number a warp: the partner of reduce_shared.
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_down_sync(0xffffffff, v, d);
    }
    return v;
}

extern "C" __global__ void reduce_shuffle(const float *in, float *sums, int n) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = warp_sum(i < n ? in[i] : 0.0f);
    if (lane == 0) {
        partial[warp] = v;
    }
    __syncthreads();
    if (warp == 0) {
        v = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0.0f);
        if (lane == 0) {
            sums[blockIdx.x] = v;
        }
    }
}
