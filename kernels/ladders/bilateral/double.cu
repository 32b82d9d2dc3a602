// Bilateral filter of radius 2, version 1 of 4: weights by the formula, with constants in double precision
#include "digest.h"

const int RADIUS = 2;

extern "C" __global__ void bilateral(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    float center = in[y * width + x], sum = 0, weights = 0;
    for (int j = -RADIUS; j <= RADIUS; j++) {
        for (int i = -RADIUS; i <= RADIUS; i++) {
            int cx = min(max(x + i, 0), width - 1), cy = min(max(y + j, 0), height - 1);
            float v = in[cy * width + cx], d = v - center;
            float weight = exp(-(i * i + j * j) / (2.0 * 1.5 * 1.5)) * exp(-d * d / (2.0 * 0.2 * 0.2));
            sum += weight * v;
            weights += weight;
        }
    }
    out[y * width + x] = sum / weights;
}
