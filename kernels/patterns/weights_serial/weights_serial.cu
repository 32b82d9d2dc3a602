// weights_serial sums weighted inputs for 16 outputs a block, as a layer of a neural network does.
// Sixteen threads add up what 256 have made, while the others wait at the barrier. Its partner is weights_shuffle.
extern "C" __global__ void weights_serial(const float *in, const float *weight, float *out, int rounds) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    for (int round = 0; round < rounds; round++) {
        int at = (blockIdx.x * rounds + round) * 256 + t;
        partial[t] = in[at] * weight[t];
        __syncthreads();
        if (t < 16) {
            float sum = 0.0f;
            for (int k = 0; k < 16; k++) {
                sum += partial[k * 16 + t];
            }
            partial[t] = sum;
        }
        __syncthreads();
        if (t < 16) {
            out[(blockIdx.x * rounds + round) * 16 + t] = partial[t];
        }
        __syncthreads();
    }
}
