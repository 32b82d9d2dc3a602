// split_merge sends pixels through filters that they choose themselves, by a pointer to a function; most filters end in one
// function, which they all call ("split-merge" in "SIMD Re-Convergence At Thread Frontiers", section 5).
// Threads meet inside the shared function, long before the first calls have returned.
typedef int (*Filter)(int, const int *);

__device__ __noinline__ int tone(int v, const int *curve) {
    int low = curve[v & 255], high = curve[(v >> 8) & 255];
    int mixed = (low * (v & 15) + high * (16 - (v & 15))) >> 4;
    mixed ^= mixed << 3;
    mixed += curve[mixed & 255];
    mixed ^= mixed >> 5;
    return mixed & 0xffff;
}

__device__ int brighten(int v, const int *curve) { return tone(v + (v >> 2), curve) + 1; }
__device__ int invert(int v, const int *curve) { return tone(~v & 0xffff, curve) * 3; }
__device__ int blur(int v, const int *curve) { return tone((v * 5 + curve[v & 63]) >> 3, curve) ^ 0x55; }
__device__ int keep(int v, const int *curve) { return v; }
__device__ int edge(int v, const int *curve) {
    int d = abs((v & 255) - (v >> 8 & 255));
    return d > 64 ? tone(d * 257, curve) : d;
}

__device__ Filter filters[] = {brighten, invert, blur, keep, edge};

extern "C" __global__ void split_merge(const unsigned char *choices, int steps, const int *curve, int *pixels, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int v = pixels[i];
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        v = filters[choices[step * n + i]](v, curve) & 0xffff;
    }
    pixels[i] = v;
}
