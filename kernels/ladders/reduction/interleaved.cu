// Sum of an array, version 1 of 7: a tree in shared memory whose neighbouring threads work in turn, one atomic
// addition a block
extern "C" __global__ void reduce(const int *__restrict__ in, int *out, int n) {
    extern __shared__ int sums[];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) {
            sums[t] += sums[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(out, sums[0]);
    }
}
