// sides_lanes scrambles the odd and the even elements in two ways.
// Neighbouring threads have neighbouring elements, so that every warp takes both ways.
extern "C" __global__ void sides_lanes(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    if (i % 2) {
        for (int k = 0; k < rounds; k++) {
            x = x * 1664525 + 1013904223;
            x ^= x >> 9;
        }
    } else {
        for (int k = 0; k < rounds; k++) {
            x = (x ^ x << 7) + 12345;
            x ^= x >> 11;
        }
    }
    out[i] = x;
}
