// prefix_serial places codes of different lengths one behind the other, a block a list of 256.
// One thread adds up the lengths while the others wait at the barrier, as in the Huffman encoder of Rodinia. Its partner is
// prefix_warps.
extern "C" __global__ void prefix_serial(const int *lengths, const int *codes, int *out) {
    __shared__ int ends[256];
    int t = threadIdx.x, i0 = blockIdx.x * 256;
    ends[t] = lengths[i0 + t];
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 256; i++) {
            sum += ends[i];
            ends[i] = sum;
        }
    }
    __syncthreads();
    out[i0 + t] = ends[t] * 4 + codes[i0 + t];
}
