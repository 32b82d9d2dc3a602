// tail_large hashes numbers in several rounds and adds them up.
// 168 blocks of 1,024 threads, of which the GPU holds 160: eight run after all others. Its partner is tail_small.
extern "C" __global__ void tail_large(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = in[i];
    for (int k = 0; k < rounds; k++) {
        h = h * 2654435761u ^ h >> 15;
    }
    for (int d = 16; d > 0; d /= 2) {
        h += __shfl_xor_sync(0xffffffff, h, d);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out + i / 1024, h);
    }
}
