// Matrix times vector, version 2 of 5: a block a row, a tree in shared memory
extern "C" __global__ void gemv(const float *a, const float *x, float *y, int m, int n) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < n; i += blockDim.x) {
        sum += a[blockIdx.x * n + i] * x[i];
    }
    sums[t] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            sums[t] += sums[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        y[blockIdx.x] = sums[0];
    }
}
