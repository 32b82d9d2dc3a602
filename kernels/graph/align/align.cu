// align scores the global alignment of two sequences by dynamic programming (Needleman and Wunsch 1970).
// A launch computes the tiles of one anti-diagonal, a tile a warp, and within a tile the cells of an anti-diagonal at a
// time: few blocks, and at both ends of every wavefront few lanes.
#define TILE 32

extern "C" __global__ void align_borders(int *score, int length, int gap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= length) {
        score[i] = -gap * i;
        score[i * (length + 1)] = -gap * i;
    }
}

extern "C" __global__ void align_tiles(int *score, const unsigned char *down, const unsigned char *across, int length, int wave,
                                       int gap, int match, int mismatch) {
    __shared__ int tile[TILE + 1][TILE + 1];
    int t = threadIdx.x;
    int tiles = length / TILE;
    int tile_x = max(0, wave - tiles + 1) + blockIdx.x;
    int tile_y = wave - tile_x;
    int pitch = length + 1;
    int *corner = score + tile_y * TILE * pitch + tile_x * TILE;
    tile[0][t + 1] = corner[t + 1];
    tile[t + 1][0] = corner[(t + 1) * pitch];
    if (t == 0) {
        tile[0][0] = corner[0];
    }
    unsigned char letter = across[tile_x * TILE + t];
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        int row = step - t;
        if (row >= 0 && row < TILE) {
            int diagonal = tile[row][t] + (down[tile_y * TILE + row] == letter ? match : mismatch);
            int best = max(tile[row][t + 1], tile[row + 1][t]) - gap;
            tile[row + 1][t + 1] = max(diagonal, best);
        }
        __syncthreads();
    }
    for (int row = 1; row <= TILE; row++) {
        corner[row * pitch + t + 1] = tile[row][t + 1];
    }
}
