// Matrix times vector, version 5 of 5: a warp takes two rows: the vector is read once for both, and twice as many
// loads are under way
const int ROWS = 2;

extern "C" __global__ void gemv(const float4 *__restrict__ a, const float4 *__restrict__ x, float *__restrict__ y, int m, int n) {
    int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * ROWS;
    if (row >= m) {
        return;
    }
    float sums[ROWS] = {};
    for (int i = lane; i < n / 4; i += 32) {
        float4 w = x[i];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float4 v = a[(row + r) * (n / 4) + i];
            sums[r] += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int d = 16; d > 0; d /= 2) {
            sums[r] += __shfl_down_sync(0xffffffff, sums[r], d);
        }
        if (lane == 0) {
            y[row + r] = sums[r];
        }
    }
}
