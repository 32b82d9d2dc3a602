// layer_serial adds up the inputs of units, layer by layer, a block a unit.
// The first warp alone adds up what all have loaded, as in the forward pass of backprop. Its partner is layer_warps.
extern "C" __global__ void layer_serial(const unsigned *__restrict__ in, unsigned *__restrict__ out, int layers, int n) {
    __shared__ unsigned values[256];
    int t = threadIdx.x;
    for (int l = 0; l < layers; l++) {
        values[t] = in[l * n + blockIdx.x * 256 + t];
        __syncthreads();
        if (t < 32) {
            unsigned sum = 0;
            for (int k = 0; k < 8; k++) {
                sum += values[t * 8 + k];
            }
            for (int d = 16; d > 0; d /= 2) {
                sum += __shfl_xor_sync(0xffffffff, sum, d);
            }
            if (t == 0) {
                out[l * gridDim.x + blockIdx.x] = sum;
            }
        }
        __syncthreads();
    }
}
