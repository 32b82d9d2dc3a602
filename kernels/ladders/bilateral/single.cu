// Bilateral filter of radius 2, version 2 of 4: single precision
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
            float weight = expf(-(i * i + j * j) / (2.0f * 1.5f * 1.5f)) * expf(-d * d / (2.0f * 0.2f * 0.2f));
            sum += weight * v;
            weights += weight;
        }
    }
    out[y * width + x] = sum / weights;
}
