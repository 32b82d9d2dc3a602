// scale_vectors multiplies an array by a number.
// The partner of scale_words: four elements an access.
extern "C" __global__ void scale_vectors(const float *in, float *out, float factor, int quarters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quarters) {
        return;
    }
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    reinterpret_cast<float4 *>(out)[i] = make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w);
}
