// sobel finds edges in a picture of bytes: nine pixels, two weighted sums in integers, the root of the sum of their squares.
extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int left = max(x - 1, 0), right = min(x + 1, width - 1);
    const unsigned char *above = in + max(y - 1, 0) * width;
    const unsigned char *here = in + y * width;
    const unsigned char *below = in + min(y + 1, height - 1) * width;
    int gx = above[right] - above[left] + 2 * (here[right] - here[left]) + below[right] - below[left];
    int gy = below[left] + 2 * below[x] + below[right] - above[left] - 2 * above[x] - above[right];
    int strength = (int)sqrtf((float)(gx * gx + gy * gy));
    out[y * width + x] = (unsigned char)min(strength, 255);
}
