// hashes_narrow hashes the elements of rows in many rounds and adds them up, a block a row.
// The partner of hashes_wide: 16 KB, so that an SM holds six blocks.
extern "C" __global__ void hashes_narrow(const unsigned *__restrict__ in, unsigned *__restrict__ out, int rounds) {
    __shared__ unsigned sums[4096];
    int t = threadIdx.x;
    unsigned h = in[blockIdx.x * 128 + t];
    for (int k = 0; k < rounds; k++) {
        h = h * 2654435761u ^ h >> 15;
    }
    sums[t] = h;
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            sums[t] += sums[t + d];
        }
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = sums[0];
    }
}
