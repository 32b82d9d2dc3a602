// sgemm_tiled computes C = alpha·A·B + beta·C in single precision with 16 by 16 tiles in shared memory.
// Each element of A and B is loaded once per tile instead of once per product: the partner of sgemm_naive.
#define TILE 16

extern "C" __global__ void sgemm_tiled(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    __shared__ float ta[TILE][TILE];
    __shared__ float tb[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < k; t += TILE) {
        ta[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0.0f;
        tb[ty][tx] = t + ty < k && col < n ? b[(t + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += ta[ty][i] * tb[i][tx];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[row * n + col] = alpha * sum + beta * c[row * n + col];
    }
}
