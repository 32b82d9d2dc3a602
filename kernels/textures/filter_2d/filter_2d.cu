// filter_2d turns a picture about its middle and reads it with every way of going on beyond its edges, filtered between four texels, and gathers
// the four at each place. Coordinates are normalized.
extern "C" __global__ void filter_2d(float *out, float4 *gathered, cudaTextureObject_t wrap, cudaTextureObject_t clamp, cudaTextureObject_t mirror,
                                     cudaTextureObject_t border, float cosine, float sine, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float u = __fsub_rn(__fdividef(x + 0.5f, 64.0f), 0.5f);
    float v = __fsub_rn(__fdividef(y + 0.5f, 64.0f), 0.5f);
    float tu = __fadd_rn(__fsub_rn(__fmul_rn(u, cosine), __fmul_rn(v, sine)), 0.5f);
    float tv = __fadd_rn(__fadd_rn(__fmul_rn(u, sine), __fmul_rn(v, cosine)), 0.5f);
    int at = y * width + x, plane = width * height;
    out[at] = tex2D<float>(wrap, tu, tv);
    out[plane + at] = tex2D<float>(clamp, tu, tv);
    out[2 * plane + at] = tex2D<float>(mirror, tu, tv);
    out[3 * plane + at] = tex2D<float>(border, tu, tv);
    gathered[at] = tex2Dgather<float4>(clamp, tu, tv, 0);
}
