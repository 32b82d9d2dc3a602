// affine_alias maps eight planes of values, each by the same scale and shift of its pixel.
// The compiler cannot know that the stores leave scale and shift alone, and loads them again. Its partner is affine_restrict.
extern "C" __global__ void affine_alias(const float *in, const float *scale, const float *shift,
                                        float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
#pragma unroll
    for (int plane = 0; plane < 8; plane++) {
        out[plane * n + i] = in[plane * n + i] * scale[i] + shift[i];
    }
}
