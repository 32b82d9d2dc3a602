// distance_rolled measures how far points are from a center, feature by feature.
// The loop over the features of kmeans, not unrolled. Its partner is distance_unrolled.
extern "C" __global__ void distance_rolled(const float *__restrict__ points, float *__restrict__ out, float center, int features,
                               int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float distance = 0.0f;
#pragma unroll 1
    for (int f = 0; f < features; f++) {
        float d = points[f * n + i] - center;
        distance += d * d;
    }
    out[i] = distance;
}
