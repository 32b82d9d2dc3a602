// segment_max finds the largest value of each segment and where it lies, a warp a segment.
extern "C" __global__ void segment_max(const int *start, const int *value, int *largest, int *where, int segments) {
    int segment = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (segment >= segments) {
        return;
    }
    int best = -1, at = -1, end = start[segment + 1];
    for (int i = start[segment] + lane; i < end; i += 32) {
        int v = value[i];
        if (v > best) {
            best = v;
            at = i;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        int v = __shfl_down_sync(0xffffffff, best, offset), i = __shfl_down_sync(0xffffffff, at, offset);
        if (v > best || v == best && (unsigned)i < (unsigned)at) {
            best = v;
            at = i;
        }
    }
    if (lane == 0) {
        largest[segment] = best;
        where[segment] = at;
    }
}
