// atomics folds an array into totals with every atomic operation that has a result independent of order.
// All threads update the same addresses. Where the compiler can, it folds a warp's updates into one first; the additions
// to claimed need the old value, the float maximum is a loop around compare-and-swap.
struct Totals {
    int sum, smallest, largest;
    unsigned all_bits, any_bits, odd_bits;
    unsigned wrapped_up, wrapped_down;
    unsigned long long wide_sum, wide_largest;
    float float_sum, float_largest;
    double double_sum;
};

__device__ void max_of_positive(float *to, float v) {
    int *bits = (int *)to;
    int old = *bits;
    while (__int_as_float(old) < v) {
        int seen = atomicCAS(bits, old, __float_as_int(v));
        if (seen == old) {
            return;
        }
        old = seen;
    }
}

extern "C" __global__ void atomics(const int *in, int n, Totals *totals, int *claimed, int *block_best) {
    __shared__ int best;
    if (threadIdx.x == 0) {
        best = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = in[i];
        int before = atomicAdd(&totals->sum, v);
        atomicMin(&totals->smallest, v - 500);
        atomicMax(&totals->largest, v);
        atomicAnd(&totals->all_bits, (unsigned)v | 0xffff0000u);
        atomicOr(&totals->any_bits, (unsigned)v << 3);
        atomicXor(&totals->odd_bits, (unsigned)v * 2654435761u);
        unsigned slot = atomicInc(&totals->wrapped_up, 999);
        atomicDec(&totals->wrapped_down, 1500);
        atomicAdd(&totals->wide_sum, (unsigned long long)v * 1000000007ull);
        atomicMax(&totals->wide_largest, (unsigned long long)v << 33);
        atomicAdd(&totals->float_sum, 0.25f);
        atomicAdd(&totals->double_sum, v * 0.5);
        max_of_positive(&totals->float_largest, v * 0.125f);
        atomicMax(&best, v);
        atomicAdd(&claimed[slot], before >= 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        block_best[blockIdx.x] = atomicExch(&best, -1);
    }
}
