// rows_strided adds up a hash of the elements of a row, a block a row.
// The partner of rows_blocked: neighbouring threads have neighbouring elements.
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

extern "C" __global__ void rows_strided(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
    __shared__ unsigned parts[32];
    const unsigned *row = in + blockIdx.x * 32768;
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < 32; k++) {
        unsigned x = row[k * 1024 + threadIdx.x];
        sum += x * x ^ x >> 3;
    }
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = sum;
    }
}
