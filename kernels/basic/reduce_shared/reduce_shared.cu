// reduce_shared sums each block's part of an array through shared memory.
// Interleaved addressing as textbooks show it first: the modulo picks every 2s-th thread, so that warps diverge at every
// step, and half of the threads idle from the start. Its partner is reduce_shuffle.
extern "C" __global__ void reduce_shared(const float *in, float *sums, int n) {
    __shared__ float partial[256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    partial[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) {
            partial[t] += partial[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = partial[0];
    }
}
