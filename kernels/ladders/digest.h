// digest condenses an output that is too large to keep: digest[i] is a weighted sum of the i-th 1,024 floats, a warp's work. Sums of
// a lane grow by c·old + new, so that a value counts by its place. It runs behind the kernels of a ladder, whose time it is no part of.
extern "C" __global__ void digest(const float4 *__restrict__ values, float *__restrict__ digest) {
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 2
    for (int k = 0; k < 8; k++) {
        float4 v = values[warp * 256 + k * 32 + lane];
        sum.x = fmaf(sum.x, 0.875f, v.x);
        sum.y = fmaf(sum.y, 0.875f, v.y);
        sum.z = fmaf(sum.z, 0.875f, v.z);
        sum.w = fmaf(sum.w, 0.875f, v.w);
    }
    float weight = 1.0f - lane / 64.0f;
    float all = weight * (sum.x + 0.75f * sum.y + 0.5f * sum.z + 0.25f * sum.w);
    for (int d = 16; d > 0; d /= 2) {
        all += __shfl_xor_sync(0xffffffff, all, d);
    }
    if (lane == 0) {
        digest[warp] = all;
    }
}
