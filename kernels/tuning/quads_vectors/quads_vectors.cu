// quads_vectors adds up a hash of table entries of four words for every thread.
// The partner of quads_words: one load for four words.
extern "C" __global__ void quads_vectors(const unsigned *__restrict__ table, unsigned *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned *entry = table + (i + 5 * r) % 1024 * 4;
        uint4 v = *reinterpret_cast<const uint4 *>(entry);
        unsigned four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            sum += four[j] * four[j] ^ four[j] >> 3;
        }
    }
    out[i] = sum;
}
