// vector_dot multiplies two vectors, each block its part, and lets one thread add the products up.
// The example of Gupta and Datta, "Characterizing performance loss from mapping general purpose applications onto GPU
// architectures": branches by the thread's number are extrinsic, and one of them makes a serial section.
extern "C" __global__ void vector_dot(const float *a, const float *b, float *products, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        products[i] = a[i] * b[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = i; k < min(i + (int)blockDim.x, n); k++) {
            sum += products[k];
        }
        sums[blockIdx.x] = sum;
    }
}
