// median_filter replaces each pixel by the median of the nine around it: bounds by clamping, a network of minima and maxima.
__device__ __forceinline__ void order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

extern "C" __global__ void median_filter(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int v[9];
    for (int k = 0; k < 9; k++) {
        int sx = min(max(x + k % 3 - 1, 0), width - 1), sy = min(max(y + k / 3 - 1, 0), height - 1);
        v[k] = in[sy * width + sx];
    }
    for (int pass = 0; pass < 5; pass++) {
        for (int k = pass + 1; k < 9; k++) {
            order(v[pass], v[k]);
        }
    }
    out[y * width + x] = v[4];
}
