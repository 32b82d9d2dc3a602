// columns_conflict weighs and sums rows of 32 by 32 tiles from shared memory.
// Threads of a warp read a column of a tile of 32 words a row: all in one bank. Its partner is columns_padded.
extern "C" __global__ void columns_conflict(const float *in, float *out) {
    __shared__ float tile[32][32];
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
