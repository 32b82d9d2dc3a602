// tiles_async smooths a signal tile by tile: each thread sums what is near its element, weighted by the distance.
// The partner of tiles_registers: the next tile is copied to a second buffer while this one is worked on.
const int TILE = 256;

__device__ void copy(float *to, const float *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

extern "C" __global__ void tiles_async(const float *__restrict__ in, float *__restrict__ out, int tiles) {
    __shared__ float tile[2][TILE];
    int t = threadIdx.x, first = blockIdx.x * tiles * TILE + t;
    copy(&tile[0][t], in + first);
    commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            copy(&tile[(k + 1) % 2][t], in + first + (k + 1) * TILE);
        }
        commit();
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        float sum = 0;
#pragma unroll
        for (int d = 0; d < 32; d++) {
            sum = fmaf(sum, 0.875f, tile[k % 2][(t + d) % TILE]);
        }
        out[first + k * TILE] = sum;
        __syncthreads();
    }
}
