// orbits_many follows points that come to rest, in many small steps.
// The partner of orbits_few: the same threads in 80 blocks.
extern "C" __global__ void orbits_many(const float *__restrict__ in, float *__restrict__ out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
#pragma unroll 4
    for (int k = 0; k < steps; k++) {
        x = fmaf(0.125f * 0.25f, fmaf(-x, x, 1.0f), x);
    }
    out[i] = x;
}
