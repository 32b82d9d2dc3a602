// figure_forward has the control flow of Figure 1 of "SIMD Re-Convergence At Thread Frontiers", which is that of Figures 7, 10 and
// 11 of Wu et al., "Characterization and Transformation of Unstructured Control Flow in Bulk Synchronous GPU Applications".
// Blocks are 1 to {2, 3}, 2 to {3, exit}, 3 to {4, 5}, 4 to {5, exit}, 5 to exit. Volatile reads keep the compiler from merging blocks.
extern "C" __global__ void figure_forward(const volatile unsigned char *ways, int n, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned path = 1;
    if (ways[i]) {
        goto block3;
    }
    path = path * 10 + 2;
    if (ways[n + i]) {
        goto end;
    }
block3:
    path = path * 10 + 3;
    if (ways[2 * n + i]) {
        goto block5;
    }
    path = path * 10 + 4;
    if (ways[3 * n + i]) {
        goto end;
    }
block5:
    path = path * 10 + 5 + ways[4 * n + i];
end:
    out[i] = path;
}
