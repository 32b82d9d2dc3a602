// gather_rolled sums elements that a list of indices names.
// The loop is not unrolled: each round waits for its own load. Its partner is gather_unrolled.
extern "C" __global__ void gather_rolled(const int *index, const float *in, float *out, int rounds, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = 0; k < rounds; k++) {
        sum += in[index[k * n + i]];
    }
    out[i] = sum;
}
