// volume marches rays through a volume of bytes, read as numbers from 0 to 1 and filtered between eight of them, and looks each up in a table of
// colours of one dimension: what volume renderers do.
extern "C" __global__ void volume(float4 *image, cudaTextureObject_t density, cudaTextureObject_t colours, int width, int height, int steps) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float u = __fdividef(x + 0.5f, 64.0f), v = __fdividef(y + 0.5f, 64.0f);
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < steps; k++) {
        float sample = tex3D<float>(density, u, v, __fdividef(k + 0.25f, 32.0f));
        float4 colour = tex1D<float4>(colours, __fmul_rn(sample, 16.0f));
        float left = __fmul_rn(__fsub_rn(1.0f, sum.w), __fmul_rn(colour.w, 0.125f));
        sum.x = __fadd_rn(sum.x, __fmul_rn(colour.x, left));
        sum.y = __fadd_rn(sum.y, __fmul_rn(colour.y, left));
        sum.z = __fadd_rn(sum.z, __fmul_rn(colour.z, left));
        sum.w = __fadd_rn(sum.w, left);
    }
    image[y * width + x] = sum;
}
