// vecadd computes c = a + b, one element a thread.
// The smallest kernel of the corpus: bound by memory, with nothing to hide the latency of its two loads but other warps.
extern "C" __global__ void vecadd(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}
