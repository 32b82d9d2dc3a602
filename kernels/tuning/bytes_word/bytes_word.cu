// bytes_word adds up 16 bytes of a table for every thread, in several rounds.
// The partner of bytes_single: one load for all of them.
extern "C" __global__ void bytes_word(const unsigned char *__restrict__ table, int *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned char *entry = table + (i + 5 * r) % 256 * 16;
        uint4 v = *reinterpret_cast<const uint4 *>(entry);
        unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            sum += words[k / 4] >> k % 4 * 8 & 255;
        }
    }
    out[i] = sum;
}
