// weights_shuffle sums weighted inputs for 16 outputs a block, as a layer of a neural network does.
// The partner of weights_serial: the 16 summands of an output lie in one warp, which adds them up without a barrier.
extern "C" __global__ void weights_shuffle(const float *in, const float *weight, float *out, int rounds) {
    int output = threadIdx.x / 16, k = threadIdx.x % 16;
    for (int round = 0; round < rounds; round++) {
        int part = blockIdx.x * rounds + round;
        float sum = in[part * 256 + k * 16 + output] * weight[k * 16 + output];
        for (int d = 8; d > 0; d /= 2) {
            sum += __shfl_xor_sync(0xffffffff, sum, d);
        }
        if (k == 0) {
            out[part * 16 + output] = sum;
        }
    }
}
