// figure_check has control flow after Figure 3 of "SIMD Re-Convergence At Thread Frontiers": two crossed pairs of joins, so that
// re-convergence has to be checked for at edges that are no joins of the structured kind.
// Blocks are 0 to {1, 3}, 1 to {2, 3}, 2 to {4, 5}, 3 to {4, 5}, 4 to {6, 7}, 5 to {6, 7}, 6 to 7. Volatile reads keep the blocks apart.
extern "C" __global__ void figure_check(const volatile unsigned char *ways, int n, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned path = 8;
    if (ways[i]) {
        goto block3;
    }
    path = path * 8 + 1;
    if (ways[n + i]) {
        goto block3;
    }
    path = path * 8 + 2;
    if (ways[2 * n + i]) {
        goto block5;
    }
    goto block4;
block3:
    path = path * 8 + 3;
    if (ways[3 * n + i]) {
        goto block5;
    }
block4:
    path = path * 8 + 4;
    if (ways[4 * n + i]) {
        goto block6;
    }
    goto block7;
block5:
    path = path * 8 + 5;
    if (ways[5 * n + i]) {
        goto block7;
    }
block6:
    path = path * 8 + 6 + 64 * ways[6 * n + i];
block7:
    out[i] = path * 8 + 7;
}
