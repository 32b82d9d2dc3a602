// Sum of an array, version 4 of 7: the first addition is made while loading: half the blocks
extern "C" __global__ void reduce(const int *__restrict__ in, int *out, int n) {
    extern __shared__ int sums[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n) {
        sum += in[i + blockDim.x];
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
        atomicAdd(out, sums[0]);
    }
}
