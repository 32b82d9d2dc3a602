// scan computes the exclusive prefix sums of segments of 512 integers, one segment a block.
// The work-efficient tree of Blelloch (1990): up-sweep, then down-sweep, in shared memory. The strides are powers of two,
// so bank conflicts double at every level, and fewer and fewer threads work.
extern "C" __global__ void scan(const int *in, int *out) {
    __shared__ int tree[512];
    int t = threadIdx.x;
    int base = blockIdx.x * 512;
    tree[2 * t] = in[base + 2 * t];
    tree[2 * t + 1] = in[base + 2 * t + 1];
    int stride = 1;
    for (int active = 256; active > 0; active /= 2) {
        __syncthreads();
        if (t < active) {
            int left = stride * (2 * t + 1) - 1;
            tree[left + stride] += tree[left];
        }
        stride *= 2;
    }
    if (t == 0) {
        tree[511] = 0;
    }
    for (int active = 1; active <= 256; active *= 2) {
        stride /= 2;
        __syncthreads();
        if (t < active) {
            int left = stride * (2 * t + 1) - 1;
            int sum = tree[left];
            tree[left] = tree[left + stride];
            tree[left + stride] += sum;
        }
    }
    __syncthreads();
    out[base + 2 * t] = tree[2 * t];
    out[base + 2 * t + 1] = tree[2 * t + 1];
}
