// transpose_tiled writes the transpose of a matrix through tiles in shared memory.
// Loads and stores are both coalesced; the column of padding keeps the tile's columns in different banks. The tile's
// width is a template parameter, so the kernel's symbol is a mangled one. The partner of transpose_naive.
template <int TILE>
__global__ void transpose_tiled(const float *in, float *out, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) {
        if (x < width && y + j < height) {
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) {
        if (x < height && y + j < width) {
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}

template __global__ void transpose_tiled<32>(const float *, float *, int, int);
