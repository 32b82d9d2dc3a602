// quantize turns rows of floats into signed bytes and multiplies them with byte weights, four at a time (dp4a).
// Conversions between formats, with saturation, around a dot product of integers: inference in eight bits.
extern "C" __global__ void quantize(const float4 *in, const int *weights, char4 *bytes, int *sums, float inverse_scale,
                                    int groups) {
    int row = blockIdx.x;
    int lane = threadIdx.x;
    int sum = 0;
    for (int g = lane; g < groups; g += 32) {
        float4 v = in[row * groups + g];
        int x = max(-128, min(127, __float2int_rn(__fmul_rn(v.x, inverse_scale))));
        int y = max(-128, min(127, __float2int_rn(__fmul_rn(v.y, inverse_scale))));
        int z = max(-128, min(127, __float2int_rn(__fmul_rn(v.z, inverse_scale))));
        int w = max(-128, min(127, __float2int_rn(__fmul_rn(v.w, inverse_scale))));
        bytes[row * groups + g] = make_char4(x, y, z, w);
        int packed = (x & 255) | (y & 255) << 8 | (z & 255) << 16 | w << 24;
        sum = __dp4a(packed, weights[g], sum);
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    if (lane == 0) {
        sums[row] = sum;
    }
}
