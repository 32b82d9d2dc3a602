// decay_double lets values decay towards their inputs.
// The constant is double, and with it every step. Its partner is decay_float.
extern "C" __global__ void decay_double(const float *in, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], v = x;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        v = 0.9 * v + x;
    }
    out[i] = v;
}
