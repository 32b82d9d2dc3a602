// Price of an option by 65,536 paths of 16 steps, version 5 of 5: the logarithm of the value is added up: one
// exponential a path instead of one a step
__device__ unsigned next(unsigned &state) { // xorshift (Marsaglia 2003)
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ unsigned seed(unsigned i) {
    i = (i + 1) * 2654435769u;
    i = (i ^ i >> 16) * 0x85ebca6bu;
    return (i ^ i >> 13) | 1;
}

extern "C" __global__ void price(float *sum, int steps) {
    unsigned state = seed(blockIdx.x * blockDim.x + threadIdx.x);
    float normals = 0;
    for (int s = 0; s < steps; s++) {
        float u = (next(state) + 1.0f) * (1 / 4294967296.0f), v = next(state) * (6.2831853f / 4294967296.0f);
        float squared = fmaxf(-2 * __logf(u), 1e-30f);
        normals += squared * rsqrtf(squared) * __cosf(v);
    }
    float gain = fmaxf(100 * __expf(0.0005f * steps + 0.05f * normals) - 100, 0.0f);
    for (int d = 16; d > 0; d /= 2) {
        gain += __shfl_down_sync(0xffffffff, gain, d);
    }
    __shared__ float warps[8];
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = gain;
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        gain = warps[threadIdx.x];
        for (int d = 4; d > 0; d /= 2) {
            gain += __shfl_down_sync(0xff, gain, d);
        }
        if (threadIdx.x == 0) {
            atomicAdd(sum, gain);
        }
    }
}
