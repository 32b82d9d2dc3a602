// powers_shift sums what 16 inputs give to each of 16 units by a tree, as the forward pass of backprop in Rodinia does.
// The partner of powers_float: the width is a shift, and who takes part a mask.
extern "C" __global__ void powers_shift(const float *__restrict__ inputs, const float *__restrict__ weights, float *__restrict__ sums,
                                        int levels, int batches) {
    __shared__ float products[16][17];
    int unit = threadIdx.x, input = threadIdx.y;
    for (int b = 0; b < batches; b++) {
        int group = b * gridDim.x + blockIdx.x;
        products[input][unit] = inputs[group * 16 + input] * weights[(group % 64 * 16 + input) * 16 + unit];
        __syncthreads();
        for (int i = 1; i <= levels; i++) {
            int width = 1 << i;
            if ((input & width - 1) == 0) {
                products[input][unit] += products[input + (width >> 1)][unit];
            }
            __syncthreads();
        }
        if (input == 0) {
            sums[group * 16 + unit] = products[0][unit];
        }
        __syncthreads();
    }
}
