// Matrix times vector, version 1 of 5: a thread a row
extern "C" __global__ void gemv(const float *a, const float *x, float *y, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        float sum = 0;
        for (int i = 0; i < n; i++) {
            sum += a[row * n + i] * x[i];
        }
        y[row] = sum;
    }
}
