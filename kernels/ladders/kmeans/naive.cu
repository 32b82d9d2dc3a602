// Nearest of 16 centers for points of eight dimensions, version 1 of 5: a thread a point; numbers of dimensions and
// centers known at run time
#include "digest.h"

extern "C" __global__ void assign(const float *points, const float *centers, unsigned char *nearest, float *distances, int n, int dims, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    distances[i] = 3.4e38f;
    for (int c = 0; c < k; c++) {
        float distance = 0;
        for (int d = 0; d < dims; d++) {
            float delta = points[i * dims + d] - centers[c * dims + d];
            distance += delta * delta;
        }
        if (distance < distances[i]) {
            distances[i] = distance;
            nearest[i] = c;
        }
    }
}
