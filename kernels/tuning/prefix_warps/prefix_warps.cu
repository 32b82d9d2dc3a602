// prefix_warps places codes of different lengths one behind the other, a block a list of 256.
// The partner of prefix_serial: all warps add up lengths, each its own, and then the sums of those before it.
extern "C" __global__ void prefix_warps(const int *lengths, const int *codes, int *out) {
    __shared__ int sums[8];
    int t = threadIdx.x, i0 = blockIdx.x * 256;
    int end = lengths[i0 + t];
    for (int d = 1; d < 32; d *= 2) {
        int before = __shfl_up_sync(0xffffffff, end, d);
        end += t % 32 >= d ? before : 0;
    }
    if (t % 32 == 31) {
        sums[t / 32] = end;
    }
    __syncthreads();
    for (int w = 0; w < t / 32; w++) {
        end += sums[w];
    }
    out[i0 + t] = end * 4 + codes[i0 + t];
}
