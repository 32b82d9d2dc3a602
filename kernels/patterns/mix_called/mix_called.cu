// mix_called hashes numbers.
// The function is called: the call and the moves around it cost as much as its work. Its partner is mix_inlined.
__device__ __noinline__ unsigned mix(unsigned h, unsigned v) {
    h ^= v * 0xcc9e2d51u;
    return (h << 13 | h >> 19) * 5u + 0xe6546b64u;
}

extern "C" __global__ void mix_called(const unsigned *in, unsigned *out, int rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i], h = i;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        h = mix(h, v + k);
    }
    out[i] = h;
}
