// figure_tree has the control flow of Figure 12 of Wu et al., "Characterization and Transformation of Unstructured Control Flow in
// Bulk Synchronous GPU Applications": a loop inside of a graph from which one block has to be copied.
// Block 1 goes to 2 or 3; 2 repeats itself, and then goes to 3 or 4; 3 goes to 4. Volatile reads keep the blocks apart.
extern "C" __global__ void figure_tree(const volatile unsigned char *ways, const volatile unsigned char *rounds, int n, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hash = i;
    int left;
    if (ways[i]) {
        goto block3;
    }
    left = rounds[i];
#pragma unroll 1
    do {
        hash = hash * 22695477 + rounds[(i + left) % n];
    } while (--left > 0);
    if (ways[n + i]) {
        goto block4;
    }
block3:
    hash = (hash ^ hash >> 11) * 2654435761u + ways[2 * n + i];
block4:
    out[i] = hash;
}
