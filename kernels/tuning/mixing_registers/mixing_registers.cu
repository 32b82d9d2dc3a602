// mixing_registers lets 40 values of a thread mix for some rounds.
// The partner of mixing_spilled: as many registers as it needs.
extern "C" __global__ void mixing_registers(const float *in, float *out, int rounds, int n) {
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
