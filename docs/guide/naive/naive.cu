// transpose writes the transpose of a matrix of width x height floats.
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        out[x * height + y + j] = in[(y + j) * width + x];
}
