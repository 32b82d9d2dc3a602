// tail_small hashes numbers in several rounds and adds them up.
// The partner of tail_large: blocks of 256 threads make a short tail.
extern "C" __global__ void tail_small(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
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
