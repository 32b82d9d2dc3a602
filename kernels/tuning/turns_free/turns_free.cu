// turns_free folds the values of a block, each thread beginning at its own.
// The partner of turns_synced: one barrier, behind the stores.
extern "C" __global__ void turns_free(const unsigned *in, unsigned *out, int rounds) {
    __shared__ unsigned values[256];
    int t = threadIdx.x;
    unsigned x = values[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
#pragma unroll 2
    for (int k = 0; k < rounds; k++) {
        x = x * 3 ^ values[(t + k) % 256];
    }
    out[blockIdx.x * 256 + t] = x;
}
