// kinds_sorted advances random numbers of four kinds.
// The partner of kinds_mixed: each warp has numbers of one kind.
extern "C" __global__ void kinds_sorted(const unsigned *in, unsigned *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x % 64 * 4 + threadIdx.x / 64;
    unsigned v = in[i];
    int kind = i % 4;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        if (kind == 0) {
            v = v * 1664525u ^ v >> 7;
        } else if (kind == 1) {
            v = v * 22695477u + 1;
        } else if (kind == 2) {
            v = v * 69069u ^ v >> 9;
        } else {
            v = v * 134775813u + 7;
        }
    }
    out[i] = v;
}
