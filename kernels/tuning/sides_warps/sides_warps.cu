// sides_warps scrambles the odd and the even elements in two ways.
// The partner of sides_lanes: a warp has odd elements or even ones.
extern "C" __global__ void sides_warps(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
    int odd = threadIdx.x / 32 % 2, i = blockIdx.x * blockDim.x + threadIdx.x / 64 * 64 + threadIdx.x % 32 * 2 + odd;
    unsigned x = in[i];
    if (odd) {
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
