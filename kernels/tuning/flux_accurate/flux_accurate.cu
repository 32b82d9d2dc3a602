// flux_accurate advances a gas by the speed of sound in it, as the flux of the cfd benchmark does.
// Divisions and a square root rounded as IEEE says. Its partner is flux_fast.
extern "C" __global__ void flux_accurate(const float *density, const float *momentum, const float *energy, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float d = density[i], m = momentum[i], e = energy[i], sound = 0.0f;
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        float v = m / d;
        float p = 0.4f * (e - 0.5f * d * v * v);
        float square = 1.4f * p / d;
        sound = sqrtf(square);
        m = 0.9f * m + 0.01f * sound;
        d += 0.001f * p;
    }
    out[i] = m + sound;
}
