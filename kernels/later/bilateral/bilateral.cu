// bilateral smooths an image and keeps its edges: 25 neighbours weighted by distance and by how much they differ.
extern "C" __global__ void bilateral(const float *in, float *out, int width, int height, float sharpness) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float here = in[y * width + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            int sx = min(max(x + dx, 0), width - 1), sy = min(max(y + dy, 0), height - 1);
            float v = in[sy * width + sx], d = v - here;
            float w = __expf(-0.25f * (dx * dx + dy * dy) - sharpness * d * d);
            sum += w * v;
            weights += w;
        }
    }
    out[y * width + x] = sum / weights;
}
