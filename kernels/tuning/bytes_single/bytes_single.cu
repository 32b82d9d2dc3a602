// bytes_single adds up 16 bytes of a table for every thread, in several rounds.
// One load for each byte: the queue of the memory unit is full. Its partner is bytes_word.
extern "C" __global__ void bytes_single(const unsigned char *__restrict__ table, int *__restrict__ out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        const unsigned char *entry = table + (i + 5 * r) % 256 * 16;
#pragma unroll
        for (int k = 0; k < 16; k++) {
            sum += entry[k];
        }
    }
    out[i] = sum;
}
