// march_ahead folds the planes of a volume into one, as stencils march along an axis.
// The partner of march_waiting: the value of the next plane is loaded before this one's is worked on.
__device__ unsigned load(const unsigned *p) { // where it stands: the compiler would move it to the next round
    unsigned v;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

extern "C" __global__ void march_ahead(const unsigned *__restrict__ in, unsigned *__restrict__ out, int planes, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = 0, next = in[i];
#pragma unroll 1
    for (int z = 1; z <= planes; z++) {
        unsigned value = next;
        next = load(in + min(z, planes - 1) * n + i);
        h ^= value;
#pragma unroll
        for (int k = 0; k < 24; k++) {
            h = h * 2654435761u ^ h >> 15;
        }
    }
    out[i] = h;
}
