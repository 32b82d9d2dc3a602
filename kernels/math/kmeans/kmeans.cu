// kmeans assigns points to the nearest of 16 centers and counts the members of each.
// A point's features lie one after another, so neighbouring lanes load addresses 32 bytes apart. The distance is
// accumulated by explicit fused operations, which makes ties and near ties come out the same everywhere.
#define FEATURES 8
#define CENTERS 16

__constant__ float centers[CENTERS][FEATURES];

extern "C" __global__ void kmeans(const float *points, int n, int *membership, int *members) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < CENTERS; c++) {
        float distance = 0.0f;
        for (int f = 0; f < FEATURES; f++) {
            float d = __fadd_rn(points[i * FEATURES + f], -centers[c][f]);
            distance = fmaf(d, d, distance);
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    membership[i] = best;
    atomicAdd(&members[best], 1);
}
