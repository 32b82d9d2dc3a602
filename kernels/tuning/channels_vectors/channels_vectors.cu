// channels_vectors sums the squares of samples of four channels, each calibrated with its thread's own gain and offset.
// Vector loads put four elements into neighbouring registers: those of gain, offset and sample of a channel lie in one bank.
extern "C" __global__ void channels_vectors(const float4 *__restrict__ samples, const float4 *__restrict__ gains,
                                            const float4 *__restrict__ offsets, float4 *__restrict__ out, int n) {
    __shared__ float4 tile[512];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = samples[threadIdx.x];
    float4 gain = gains[i], offset = offsets[i], sum = make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float4 s = tile[k], v;
        v.x = fmaf(s.x, gain.x, offset.x);
        v.y = fmaf(s.y, gain.y, offset.y);
        v.z = fmaf(s.z, gain.z, offset.z);
        v.w = fmaf(s.w, gain.w, offset.w);
        sum.x = fmaf(v.x, v.x, sum.x);
        sum.y = fmaf(v.y, v.y, sum.y);
        sum.z = fmaf(v.z, v.z, sum.z);
        sum.w = fmaf(v.w, v.w, sum.w);
    }
    out[i] = sum;
}
