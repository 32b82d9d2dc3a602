// gates_fast opens and closes the gates of a heart cell, as myocyte does.
// The partner of gates_accurate: approximate functions.
extern "C" __global__ void gates_fast(const float *in, float *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
#pragma unroll 1
    for (int k = 0; k < steps; k++) {
        float gate = __fdividef(1.0f, 1.0f + __expf(-v));
        v += 0.25f * (gate - 0.5f * v);
    }
    out[i] = v;
}
