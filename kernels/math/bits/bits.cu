// bits interleaves coordinates into Morton codes and back, and uses the GPU's bit-field instructions along the way.
// Reversal, population count, highest and lowest set bit, byte permutation, funnel shifts and sums of differences.
__device__ unsigned spread(unsigned x) {
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

__device__ unsigned gather(unsigned x) {
    x &= 0x55555555u;
    x = (x | x >> 1) & 0x33333333u;
    x = (x | x >> 2) & 0x0f0f0f0fu;
    x = (x | x >> 4) & 0x00ff00ffu;
    return (x | x >> 8) & 0x0000ffffu;
}

extern "C" __global__ void bits(const unsigned short *xs, const unsigned short *ys, unsigned *codes, unsigned *fields, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned code = spread(xs[i]) | spread(ys[i]) << 1;
    codes[i] = code;
    unsigned x = gather(code), y = gather(code >> 1);
    unsigned v = x << 16 | y;
    fields[8 * i] = x - y;
    fields[8 * i + 1] = __brev(v);
    fields[8 * i + 2] = __popc(v) | __clz(v) << 8 | __ffs(v) << 16;
    fields[8 * i + 3] = __byte_perm(v, code, 0x5270 + (i & 7));
    fields[8 * i + 4] = __funnelshift_l(v, code, i);
    fields[8 * i + 5] = __funnelshift_rc(v, code, i % 40);
    fields[8 * i + 6] = __usad(v, code, 12345u);
    fields[8 * i + 7] = __vsadu4(v, code) + ((int)(v << (i % 24)) >> 24);
}
