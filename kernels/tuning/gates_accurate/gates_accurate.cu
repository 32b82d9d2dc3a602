// gates_accurate opens and closes the gates of a heart cell, as myocyte does.
// An accurate exponential and an accurate reciprocal. Its partner is gates_fast.
extern "C" __global__ void gates_accurate(const float *in, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        float gate = 1.0f / (1.0f + expf(-v));
        v += 0.25f * (gate - 0.5f * v);
    }
    out[i] = v;
}
