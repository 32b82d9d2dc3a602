// pivots_ahead factors matrices of 32 rows into lower and upper triangles, a matrix a warp, as lud does with the blocks on the diagonal.
// The partner of pivots_waiting: the next row is loaded before this one is worked on.
__device__ float load(const float *p) { // where it stands: the compiler would move it to the next round
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

extern "C" __global__ void pivots_ahead(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float upper[32][32];
    int lane = threadIdx.x;
    const float *m = in + blockIdx.x * 1024 + lane;
    float inverse = 0; // of the pivot in the lane's column
    float next = *m;
#pragma unroll 1
    for (int i = 0; i < 32; i++) {
        float row = next;
        next = load(m + min(i + 1, 31) * 32);
#pragma unroll
        for (int j = 0; j < 31; j++) {
            float factor = __shfl_sync(~0u, row * inverse, j);
            row = j >= i || lane < j ? row : lane == j ? factor : row - factor * upper[j][lane];
        }
        upper[i][lane] = row;
        if (lane == i) {
            inverse = __fdividef(1, row);
        }
    }
    for (int i = 0; i < 32; i++) {
        out[blockIdx.x * 1024 + i * 32 + lane] = upper[i][lane];
    }
}
