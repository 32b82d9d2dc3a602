// Nearest of 16 centers for points of eight dimensions, version 5 of 5: a thread has two points: a center is read
// once for both
#include "digest.h"

const int DIMS = 8, K = 16, POINTS = 2;

extern "C" __global__ void assign(const float4 *points, const float *centers, unsigned char *nearest, float *distances, int n) {
    __shared__ __align__(16) float own[K * DIMS];
    own[threadIdx.x] = centers[threadIdx.x];
    __syncthreads();
    int first = blockIdx.x * blockDim.x * POINTS + threadIdx.x;
    float point[POINTS][DIMS], least[POINTS];
    int best[POINTS] = {};
#pragma unroll
    for (int j = 0; j < POINTS; j++) {
        float4 p = points[2 * (first + j * blockDim.x)], q = points[2 * (first + j * blockDim.x) + 1];
        float values[DIMS] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w};
        for (int d = 0; d < DIMS; d++) {
            point[j][d] = values[d];
        }
        least[j] = 3.4e38f;
    }
#pragma unroll
    for (int c = 0; c < K; c++) {
        float4 r = *(const float4 *)&own[c * DIMS], s = *(const float4 *)&own[c * DIMS + 4];
        float center[DIMS] = {r.x, r.y, r.z, r.w, s.x, s.y, s.z, s.w};
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            float distance = 0;
            for (int d = 0; d < DIMS; d++) {
                float delta = point[j][d] - center[d];
                distance += delta * delta;
            }
            if (distance < least[j]) {
                least[j] = distance;
                best[j] = c;
            }
        }
    }
#pragma unroll
    for (int j = 0; j < POINTS; j++) {
        nearest[first + j * blockDim.x] = best[j];
        distances[first + j * blockDim.x] = least[j];
    }
}
