// squares_vectors squares complex numbers.
// The partner of squares_words: both parts by one access.
extern "C" __global__ void squares_vectors(const float2 *in, float2 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 z = in[i];
    out[i] = make_float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y);
}
