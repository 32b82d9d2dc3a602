// layernorm brings every row of activations to mean 0 and variance 1, as transformers do: a block a row, two sums by
// shuffles and shared memory, then a scale and a shift for each column.
extern "C" __global__ void layernorm(const float *in, const float *gamma, const float *beta, float *out, int width, float inverse, float epsilon) {
    __shared__ float sums[2][8];
    const float *row = in + blockIdx.x * width;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float v = row[i];
        sum += v;
        squares += v * v;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, offset);
        squares += __shfl_down_sync(0xffffffff, squares, offset);
    }
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x % 32 == 0) {
        sums[0][warp] = sum;
        sums[1][warp] = squares;
    }
    __syncthreads();
    sum = 0.0f;
    squares = 0.0f;
    for (int i = 0; i < warps; i++) {
        sum += sums[0][i];
        squares += sums[1][i];
    }
    float mean = sum * inverse;
    float scale = rsqrtf(squares * inverse - mean * mean + epsilon);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        out[blockIdx.x * width + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
    }
}
