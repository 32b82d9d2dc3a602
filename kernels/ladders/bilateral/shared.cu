// Bilateral filter of radius 2, version 4 of 4: the tile with its edge lies in shared memory, clamped once
#include "digest.h"

const int RADIUS = 2, TX = 32, TY = 8, WIDE = TX + 2 * RADIUS, HIGH = TY + 2 * RADIUS;

extern "C" __global__ void bilateral(const float *in, float *out, int width, int height) {
    __shared__ float tile[HIGH][WIDE];
    int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    for (int n = threadIdx.y * TX + threadIdx.x; n < WIDE * HIGH; n += TX * TY) {
        int cx = min(max(x0 + n % WIDE - RADIUS, 0), width - 1), cy = min(max(y0 + n / WIDE - RADIUS, 0), height - 1);
        tile[n / WIDE][n % WIDE] = in[cy * width + cx];
    }
    __syncthreads();
    float center = tile[threadIdx.y + RADIUS][threadIdx.x + RADIUS], sum = 0, weights = 0;
    for (int j = -RADIUS; j <= RADIUS; j++) {
        for (int i = -RADIUS; i <= RADIUS; i++) {
            float v = tile[threadIdx.y + RADIUS + j][threadIdx.x + RADIUS + i], d = v - center;
            float weight = __expf((i * i + j * j) * (-1 / (2.0f * 1.5f * 1.5f)) + d * d * (-1 / (2.0f * 0.2f * 0.2f)));
            sum += weight * v;
            weights += weight;
        }
    }
    out[(y0 + threadIdx.y) * width + x0 + threadIdx.x] = sum / weights;
}
