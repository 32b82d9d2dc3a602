// distance_unrolled measures how far points are from a center, feature by feature.
// The partner of distance_rolled: four features at a time.
extern "C" __global__ void distance_unrolled(const float *__restrict__ points, float *__restrict__ out, float center, int features,
                               int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float distance = 0.0f;
#pragma unroll 4
    for (int f = 0; f < features; f++) {
        float d = points[f * n + i] - center;
        distance += d * d;
    }
    out[i] = distance;
}
