// parity_lanes treats even and odd items differently.
// Neighbouring threads take different ways, so that every warp takes both. Its partner is parity_warps.
extern "C" __global__ void parity_lanes(const int *in, int *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int item = i;
    int v = in[item];
    if (item % 2) {
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
            v = v * 1664525 + 1013904223;
            v ^= v << 7;
        }
    } else {
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
            v = v * 22695477 + 1;
            v += v << 5;
        }
    }
    out[item] = v;
}
