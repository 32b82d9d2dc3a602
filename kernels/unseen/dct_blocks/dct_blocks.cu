// dct_blocks transforms squares of 8 by 8 samples by the two-dimensional discrete cosine transform, as JPEG does, and divides what comes
// out by a table of quantizers. A block of threads does four squares through shared memory, first along rows, then along columns.
extern "C" __constant__ float cosines[64];

extern "C" __global__ void dct_blocks(const float *__restrict__ image, const float *__restrict__ quantizer, float *out, int width) {
    __shared__ float square[4][8][9];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int column = (blockIdx.x * 4 + z) * 8 + x, row = blockIdx.y * 8 + y;
    square[z][y][x] = image[row * width + column];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += square[z][y][k] * cosines[x * 8 + k];
    }
    __syncthreads();
    square[z][y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += square[z][k][x] * cosines[y * 8 + k];
    }
    out[row * width + column] = sum / quantizer[y * 8 + x];
}
