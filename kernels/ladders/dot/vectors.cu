// Dot product, version 5 of 5: 16 bytes a load
extern "C" __global__ void dot(const float4 *x, const float4 *y, float *sum, int n) {
    __shared__ float warps[8];
    float all = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 a = x[i], b = y[i];
        all += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
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
