// squares_words squares complex numbers.
// The real and the imaginary part are loaded and stored one by one.
extern "C" __global__ void squares_words(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[2 * i], y = in[2 * i + 1];
    out[2 * i] = x * x - y * y;
    out[2 * i + 1] = 2 * x * y;
}
