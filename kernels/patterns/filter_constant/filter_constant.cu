// filter_constant convolves a signal with 64 weights.
// The partner of filter_global: the weights are in constant memory.
__constant__ float weights[64];

extern "C" __global__ void filter_constant(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < 64; k++) {
        sum += weights[k] * in[i + k];
    }
    out[i] = sum;
}
