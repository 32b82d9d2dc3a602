// tallies_serial sums up the roots of rows of 256 numbers.
// The first 32 threads add up what all have made, eight numbers each, while the other warps wait.
extern "C" __global__ void tallies_serial(const float *__restrict__ in, float *__restrict__ out, int rows) {
    __shared__ float roots[256];
    int t = threadIdx.x;
    for (int r = 0; r < rows; r++) {
        roots[t] = __fsqrt_rn(in[(blockIdx.x * rows + r) * 256 + t]);
        __syncthreads();
        if (t < 32) {
            float sum = 0;
            for (int k = 0; k < 8; k++) {
                sum += roots[k * 32 + t];
            }
            for (int d = 16; d > 0; d /= 2) {
                sum += __shfl_down_sync(~0u, sum, d);
            }
            if (t == 0) {
                out[blockIdx.x * rows + r] = sum;
            }
        }
        __syncthreads();
    }
}
