// layer_warps adds up the inputs of units, layer by layer, a block a unit.
// The partner of layer_serial: every warp adds up its own inputs, and the first only the eight sums.
extern "C" __global__ void layer_warps(const unsigned *__restrict__ in, unsigned *__restrict__ out, int layers, int n) {
    __shared__ unsigned sums[2][8];
    int t = threadIdx.x;
    for (int l = 0; l < layers; l++) {
        unsigned sum = in[l * n + blockIdx.x * 256 + t];
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_xor_sync(0xffffffff, sum, d);
        }
        if (t % 32 == 0) {
            sums[l % 2][t / 32] = sum;
        }
        __syncthreads();
        if (t == 0) {
            unsigned total = 0;
            for (int w = 0; w < 8; w++) {
                total += sums[l % 2][w];
            }
            out[l * gridDim.x + blockIdx.x] = total;
        }
    }
}
