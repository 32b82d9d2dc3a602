// taps_rolled correlates a signal with an exponential.
// The loop is not unrolled: every round waits for its own loads. The loop of heartwall. Its partner is taps_unrolled.
extern "C" __global__ void taps_rolled(const float *__restrict__ in, float *__restrict__ out, int taps, float decay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, weight = 1.0f;
#pragma unroll 1
    for (int k = 0; k < taps; k++) {
        sum += in[i + k] * weight;
        weight *= decay;
    }
    out[i] = sum;
}
