// compact keeps the elements above a threshold, in their order, by three kernels: count what each block keeps, turn the
// counts into offsets, write the elements to their places.
// The middle kernel runs on one block, as such steps often do, and leaves the rest of the GPU idle.
extern "C" __global__ void count_kept(const int *in, int n, int threshold, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kept = __syncthreads_count(i < n && in[i] > threshold);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = kept;
    }
}

__device__ int warp_scan(int v, int lane) {
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) {
            v += left;
        }
    }
    return v;
}

// offsets[i] is the sum of the counts before i; offsets[blocks] is the sum of all.
extern "C" __global__ void scan_counts(const int *counts, int blocks, int *offsets) {
    __shared__ int warp_totals[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int v = warp_scan(t < blocks ? counts[t] : 0, lane);
    if (lane == 31) {
        warp_totals[warp] = v;
    }
    __syncthreads();
    if (warp == 0) {
        int total = lane < blockDim.x / 32 ? warp_totals[lane] : 0;
        warp_totals[lane] = warp_scan(total, lane);
    }
    __syncthreads();
    if (warp > 0) {
        v += warp_totals[warp - 1];
    }
    if (t < blocks) {
        offsets[t + 1] = v;
    }
    if (t == 0) {
        offsets[0] = 0;
    }
}

extern "C" __global__ void scatter_kept(const int *in, int n, int threshold, const int *offsets, int *out) {
    __shared__ int warp_totals[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int i = blockIdx.x * blockDim.x + t;
    int v = i < n ? in[i] : 0;
    bool keep = i < n && v > threshold;
    unsigned kept = __ballot_sync(0xffffffff, keep);
    if (lane == 0) {
        warp_totals[warp] = __popc(kept);
    }
    __syncthreads();
    int at = offsets[blockIdx.x] + __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++) {
        at += warp_totals[w];
    }
    if (keep) {
        out[at] = v;
    }
}
