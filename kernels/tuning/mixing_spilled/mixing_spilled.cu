// mixing_spilled lets 40 values of a thread mix for some rounds.
// At most 32 registers a thread, so that values wait in local memory. Its partner is mixing_registers.
extern "C" __global__ void __launch_bounds__(128, 16) mixing_spilled(const float *in, float *out, int rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[40];
#pragma unroll
    for (int k = 0; k < 40; k++) {
        v[k] = in[k * n + i];
    }
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        float first[7];
#pragma unroll
        for (int k = 0; k < 7; k++) {
            first[k] = v[k];
        }
#pragma unroll
        for (int k = 0; k < 40; k++) {
            v[k] = v[k] * 0.5f + (k < 33 ? v[(k + 7) % 40] : first[(k + 7) % 40 % 7]) * 0.25f;
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 40; k++) {
        sum += v[k];
    }
    out[i] = sum;
}
