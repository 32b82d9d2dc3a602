// route_ahead walks along the rows of a wall and mixes the cost of each into that of the way.
// The partner of route_waiting: the cost of the next row is loaded before this one's is worked on.
__device__ int load(const int *p) { // where it stands: the compiler would move it to the next round
    int v;
    asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}

extern "C" __global__ void route_ahead(const int *__restrict__ wall, int *__restrict__ out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int cost = 0, next = load(wall + i);
#pragma unroll 1
    for (int r = 1; r <= rows; r++) {
        cost += next;
        next = load(wall + min(r, rows - 1) * n + i);
#pragma unroll
        for (int k = 0; k < 16; k++) {
            cost = min(cost * 3 + k, cost ^ 0x2AAAAA) & 0xFFFFFF;
        }
    }
    out[i] = cost;
}
