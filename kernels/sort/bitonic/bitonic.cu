// bitonic sorts segments of 512 keys in shared memory by Batcher's bitonic network (1968), one segment a block.
// 45 compare-and-exchange steps, each with a barrier; the direction depends on the thread, and at small strides the
// accesses of a warp collide in banks.
extern "C" __global__ void bitonic(unsigned *keys) {
    __shared__ unsigned segment[512];
    unsigned *own = keys + blockIdx.x * 512;
    int t = threadIdx.x;
    segment[t] = own[t];
    segment[t + 256] = own[t + 256];
    for (int size = 2; size <= 512; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1));
            int high = low + stride;
            bool ascending = (low & size) == 0;
            unsigned a = segment[low], b = segment[high];
            if ((a > b) == ascending) {
                segment[low] = b;
                segment[high] = a;
            }
        }
    }
    __syncthreads();
    own[t] = segment[t];
    own[t + 256] = segment[t + 256];
}
