// march_waiting folds the planes of a volume into one, as stencils march along an axis.
// A plane's value is needed as soon as it is loaded. Its partner is march_ahead.
extern "C" __global__ void march_waiting(const unsigned *__restrict__ in, unsigned *__restrict__ out, int planes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = 0;
#pragma unroll 1
    for (int z = 0; z < planes; z++) {
        unsigned value = in[z * n + i];
        h ^= value;
#pragma unroll
        for (int k = 0; k < 24; k++) {
            h = h * 2654435761u ^ h >> 15;
        }
    }
    out[i] = h;
}
