// decay_float lets values decay towards their inputs.
// The partner of decay_double: the constant is float.
extern "C" __global__ void decay_float(const float *in, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], v = x;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        v = 0.9f * v + x;
    }
    out[i] = v;
}
