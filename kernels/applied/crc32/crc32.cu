// crc32 takes the check sum of packets, a packet a thread, with a table of 256 words in shared memory that the block has
// computed. Every byte waits for the table entry of the one before.
extern "C" __global__ void crc32(const unsigned *packets, unsigned *sums, int count, int words) {
    __shared__ unsigned table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; k++) {
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        }
        table[i] = c;
    }
    __syncthreads();
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= count) {
        return;
    }
    unsigned crc = 0xffffffffu;
    for (int w = 0; w < words; w++) {
        unsigned v = packets[p * words + w];
        for (int k = 0; k < 4; k++) {
            crc = table[(crc ^ v >> 8 * k) & 0xff] ^ crc >> 8;
        }
    }
    sums[p] = ~crc;
}
