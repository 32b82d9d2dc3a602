// blocks_divided walks through an address space by pages.
// The size of a page is not known to the compiler, which divides.
extern "C" __global__ void blocks_divided(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds, unsigned size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
#pragma unroll 2
    for (int k = 0; k < rounds; k++) {
        x = x / size * 977 + x % size + k;
        x ^= x << 5;
    }
    out[i] = x;
}
