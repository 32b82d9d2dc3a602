// affine_restrict maps eight planes of values, each by the same scale and shift of its pixel.
// The partner of affine_alias: __restrict__ says that the arrays do not overlap.
extern "C" __global__ void affine_restrict(const float *__restrict__ in, const float *__restrict__ scale, const float *__restrict__ shift,
                                           float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
#pragma unroll
    for (int plane = 0; plane < 8; plane++) {
        out[plane * n + i] = in[plane * n + i] * scale[i] + shift[i];
    }
}
