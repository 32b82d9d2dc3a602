// hash64 mixes keys with their 64-bit finalizer and steps a linear congruential generator, both modulo 2^64.
// The GPU multiplies 32 bits at a time: each product becomes a chain of multiply-adds, and shifts and exclusive ors come in
// pairs. The constants are those of splitmix64 (Steele, Lea and Flood 2014) and of Knuth's MMIX generator.
__device__ unsigned long long mix(unsigned long long z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

extern "C" __global__ void hash64(const unsigned long long *keys, unsigned long long *hashes, unsigned *ones, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned long long state = keys[i];
    unsigned long long hash = 0;
    for (int r = 0; r < rounds; r++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        hash = (hash << 5 | hash >> 59) ^ mix(state);
    }
    hashes[i] = hash;
    ones[i] = __popcll(hash) + 100 * __clzll(hash);
}
