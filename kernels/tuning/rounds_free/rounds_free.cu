// rounds_free mixes the elements of a row, which the threads of a block share.
// The partner of rounds_synced: one barrier, behind the stores.
extern "C" __global__ void rounds_free(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
    __shared__ unsigned row[256];
    int t = threadIdx.x;
    row[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        sum = sum * 3 + row[(t + 7 * k) % 256];
    }
    out[blockIdx.x * 256 + t] = sum;
}
