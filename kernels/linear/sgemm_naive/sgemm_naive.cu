// sgemm_naive computes C = alpha·A·B + beta·C in single precision, one element of C a thread.
// Every product loads both of its factors from global memory. Its partner is sgemm_tiled.
extern "C" __global__ void sgemm_naive(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++) {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = alpha * sum + beta * c[row * n + col];
    }
}
