// pathfinder finds the cheapest way down a grid of costs, to every cell of the last row: dynamic programming over rows.
// A launch advances some rows at once in shared memory; a block's tile shrinks by a cell on each side a row, so threads at
// the edges recompute what neighbouring blocks compute, and more of them idle with every row.
#define BLOCK 128

extern "C" __global__ void pathfinder(int steps, const int *cost, const int *from, int *to, int columns, int first_row) {
    __shared__ int before[BLOCK];
    __shared__ int after[BLOCK];
    int t = threadIdx.x;
    int col = blockIdx.x * (BLOCK - 2 * steps) + t - steps;
    bool inside = col >= 0 && col < columns;
    if (inside) {
        before[t] = from[col];
    }
    __syncthreads();
    int left = col > 0 ? t - 1 : t;
    int right = col < columns - 1 ? t + 1 : t;
    for (int i = 1; i <= steps; i++) {
        bool valid = inside && t >= i && t < BLOCK - i;
        if (valid) {
            int best = min(before[left], min(before[t], before[right]));
            after[t] = best + cost[(first_row + i - 1) * columns + col];
        }
        __syncthreads();
        if (valid) {
            before[t] = after[t];
        }
        __syncthreads();
    }
    if (inside && t >= steps && t < BLOCK - steps) {
        to[col] = before[t];
    }
}
