// kinetics_called follows the currents through 16 channels of a cell, a cell a thread, as myocyte in Rodinia does.
// The partner of kinetics_inlined: the correction is a function of its own, and the steps stand close together.
__noinline__ __device__ float steep(float v) {
    float s = v;
#pragma unroll
    for (int k = 0; k < 72; k++) {
        s = fmaf(s, 0.5f + 0.002f * k, 0.125f - 0.001f * k * v);
    }
    return s;
}

__forceinline__ __device__ float current(float v, float gain, float rest) {
    float in = fmaf(v, gain, rest), out = fmaf(v, rest, gain);
    if (in > 4) {
        in = steep(in);
    }
#pragma unroll
    for (int k = 1; k <= 18; k++) {
        in = fmaf(in, 0.25f * gain, 0.025f * k);
        out = fmaf(out, 0.25f * rest, 0.025f * k);
    }
    return fmaf(0.5f, in, out);
}

extern "C" __global__ void kinetics_called(const float *__restrict__ in, float *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 16; k++) {
            v = current(v, 0.5f + 0.02f * k, 0.75f - 0.016f * k);
        }
    }
    out[i] = v;
}
