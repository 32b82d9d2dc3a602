// apart_conflict mixes elements that lie 16 apart.
// Sixteen threads of a warp want one bank. Its partner is apart_padded.
extern "C" __global__ void apart_conflict(const unsigned *in, unsigned *out, int rounds) {
    __shared__ unsigned values[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 256) {
        values[i] = in[blockIdx.x * 512 + i];
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        int i = (t * 16 + t / 32 + k) % 512;
        sum = sum * 3 + values[i];
    }
    out[blockIdx.x * 256 + t] = sum;
}
