// scale_words multiplies an array by a number.
// Each thread has four neighbouring elements and takes them one by one. Its partner is scale_vectors.
extern "C" __global__ void scale_words(const float *in, float *out, float factor, int quarters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quarters) {
        return;
    }
    for (int k = 0; k < 4; k++) {
        out[4 * i + k] = factor * in[4 * i + k];
    }
}
