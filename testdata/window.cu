// A box filter of bytes, and the same with a tile of its block in shared memory: what a what-if run supposes of the first is held against the
// second (try_test.go). Compiled by NVRTC 12.9 for sm_80 with -lineinfo.
const int RADIUS = 4, SIDE = 2 * RADIUS + 1, TX = 32, TY = 8, WIDE = TX + 2 * RADIUS, HIGH = TY + 2 * RADIUS;

extern "C" __global__ void box_direct(const unsigned char *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) {
#pragma unroll
        for (int i = -RADIUS; i <= RADIUS; i++) {
            if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height) {
                sum += in[(y + j) * width + x + i];
            }
        }
    }
    out[y * width + x] = sum / (SIDE * SIDE);
}

extern "C" __global__ void box_tile(const unsigned char *in, float *out, int width, int height) {
    __shared__ float tile[HIGH][WIDE];
    int left = blockIdx.x * TX - RADIUS, top = blockIdx.y * TY - RADIUS;
    for (int j = threadIdx.y; j < HIGH; j += TY) {
        for (int i = threadIdx.x; i < WIDE; i += TX) {
            bool inside = left + i >= 0 && left + i < width && top + j >= 0 && top + j < height;
            tile[j][i] = inside ? in[(top + j) * width + left + i] : 0;
        }
    }
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0;
#pragma unroll
    for (int j = 0; j < SIDE; j++) {
#pragma unroll
        for (int i = 0; i < SIDE; i++) {
            sum += tile[threadIdx.y + j][threadIdx.x + i];
        }
    }
    out[y * width + x] = sum / (SIDE * SIDE);
}
