// transpose_naive writes the transpose of a matrix, straight from global memory to global memory.
// Loads are coalesced, stores are not: the 32 lanes of a warp store to 32 sectors. Its partner is transpose_tiled.
extern "C" __global__ void transpose_naive(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) {
        if (x < width && y + j < height) {
            out[x * height + y + j] = in[(y + j) * width + x];
        }
    }
}
