// convolution filters an image with 5 by 5 weights from constant memory and adds a bias.
// All lanes read the same weight, which constant memory broadcasts. The weights and the bias are module variables that
// the launch file fills in; a third one counts the weights that fell outside the image.
#define RADIUS 2
#define SIDE (2 * RADIUS + 1)

__constant__ float weights[SIDE * SIDE];
__device__ float bias;
__device__ unsigned outside;

extern "C" __global__ void convolution(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = bias;
    unsigned missed = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int sx = x + dx, sy = y + dy;
            if (sx >= 0 && sx < width && sy >= 0 && sy < height) {
                sum += weights[(dy + RADIUS) * SIDE + dx + RADIUS] * in[sy * width + sx];
            } else {
                missed++;
            }
        }
    }
    out[y * width + x] = sum;
    if (missed > 0) {
        atomicAdd(&outside, missed);
    }
}
