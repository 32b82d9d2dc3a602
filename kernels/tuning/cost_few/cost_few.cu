// cost_few weighs how far points are from a center that may be opened, as streamcluster does.
// 20 blocks for 80 SMs. Its partner is cost_many.
extern "C" __global__ void cost_few(const float *__restrict__ points, const float *__restrict__ weights, float *__restrict__ out,
                               float center, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float cost = 0.0f;
#pragma unroll 4
    for (int f = 0; f < 16; f++) {
        float d = points[f * n + i] - center;
        cost += d * d;
    }
    out[i] = cost * weights[i];
}
