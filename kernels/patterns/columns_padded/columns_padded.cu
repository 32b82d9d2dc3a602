// columns_padded weighs and sums rows of 32 by 32 tiles from shared memory.
// The partner of columns_conflict: rows of 33 words put a column into 32 banks.
extern "C" __global__ void columns_padded(const float *in, float *out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int j = 0; j < 32; j += 8) {
        tile[y + j][x] = in[blockIdx.x * 1024 + (y + j) * 32 + x];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 32; k++) {
        sum += tile[x][(k + y) % 32] * (k + 1);
    }
    out[blockIdx.x * 256 + y * 32 + x] = sum;
}
