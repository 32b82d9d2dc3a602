// filter_global convolves a signal with 64 weights.
// The weights are read from global memory, the same one by all threads. Its partner is filter_constant.
extern "C" __global__ void filter_global(const float *in, const float *weights, float *out, int n) {
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
