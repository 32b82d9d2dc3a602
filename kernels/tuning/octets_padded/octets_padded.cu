// octets_padded folds the eight values of each thread again and again.
// The partner of octets_packed: nine words apart.
const int ROW = 9;

extern "C" __global__ void octets_padded(const unsigned *in, unsigned *out, int rounds) {
    __shared__ unsigned values[256 * ROW];
    int t = threadIdx.x;
    for (int i = t; i < 2048; i += 256) {
        values[i / 8 * ROW + i % 8] = in[blockIdx.x * 2048 + i];
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        sum = sum * 5 + values[t * ROW + k % 8];
    }
    out[blockIdx.x * 256 + t] = sum;
}
