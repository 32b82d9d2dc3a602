// octets_packed folds the eight values of each thread again and again.
// Values of neighbouring threads lie eight words apart: eight threads want one bank.
const int ROW = 8;

extern "C" __global__ void octets_packed(const unsigned *in, unsigned *out, int rounds) {
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
