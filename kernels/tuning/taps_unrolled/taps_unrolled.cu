// taps_unrolled correlates a signal with an exponential.
// The partner of taps_rolled: the loads of four rounds are under way together.
extern "C" __global__ void taps_unrolled(const float *__restrict__ in, float *__restrict__ out, int taps, float decay) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, weight = 1.0f;
#pragma unroll 4
    for (int k = 0; k < taps; k++) {
        sum += in[i + k] * weight;
        weight *= decay;
    }
    out[i] = sum;
}
