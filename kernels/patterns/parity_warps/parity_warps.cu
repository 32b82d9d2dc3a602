// parity_warps treats even and odd items differently.
// The partner of parity_lanes: warps take the even or the odd items, so that each takes one way.
extern "C" __global__ void parity_warps(const int *in, int *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int item = i / 64 * 64 + i % 32 * 2 + i / 32 % 2;
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
