// apart_padded mixes elements that lie 16 apart.
// The partner of apart_conflict: a word between every 16.
extern "C" __global__ void apart_padded(const unsigned *in, unsigned *out, int rounds) {
    __shared__ unsigned values[544];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 256) {
        values[i + i / 16] = in[blockIdx.x * 512 + i];
    }
    __syncthreads();
    unsigned sum = 0;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        int i = (t * 16 + t / 32 + k) % 512;
        sum = sum * 3 + values[i + i / 16];
    }
    out[blockIdx.x * 256 + t] = sum;
}
