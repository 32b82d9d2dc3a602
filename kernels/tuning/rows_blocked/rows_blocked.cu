// rows_blocked adds up a hash of the elements of a row, a block a row.
// Every thread has 32 neighbouring elements, so that a load of a warp touches 32 lines. Its partner is rows_strided.
__device__ unsigned block_sum(unsigned sum, unsigned *parts) {
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 32; w++) {
        sum += parts[w];
    }
    return sum;
}

extern "C" __global__ void rows_blocked(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
    __shared__ unsigned parts[32];
    const unsigned *row = in + blockIdx.x * 32768;
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < 32; k++) {
        unsigned x = row[threadIdx.x * 32 + (k * 9 + 5) % 32];
        sum += x * x ^ x >> 3;
    }
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}
