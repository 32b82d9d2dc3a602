// quads_words adds up a hash of table entries of four words for every thread.
// The words are loaded one by one. Its partner is quads_vectors.
extern "C" __global__ void quads_words(const unsigned *__restrict__ table, unsigned *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned *entry = table + (i + 5 * r) % 1024 * 4;
        unsigned four[4] = {entry[0], entry[1], entry[2], entry[3]};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            sum += four[j] * four[j] ^ four[j] >> 3;
        }
    }
    out[i] = sum;
}
