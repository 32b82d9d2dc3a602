// blocks_shifted walks through an address space by pages.
// The partner of blocks_divided: a page is a power of two, so that a shift and a mask do.
extern "C" __global__ void blocks_shifted(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds, unsigned size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, shift = 31 - __clz(size);
    unsigned x = in[i];
#pragma unroll 2
    for (int k = 0; k < rounds; k++) {
        x = (x >> shift) * 977 + (x & size - 1) + k;
        x ^= x << 5;
    }
    out[i] = x;
}
