// diagonals_block aligns pairs of sequences of 32 letters, one antidiagonal of the table after the other, as Needleman and Wunsch do.
// A warp has a table of its own, and yet the whole block waits after every diagonal.
extern "C" __global__ void diagonals_block(const int *__restrict__ first, const int *__restrict__ second, int *__restrict__ scores, int penalty) {
    __shared__ int table[8][33][34];
    __shared__ int letters[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pair = blockIdx.x * 8 + warp;
    int own = second[pair * 32 + lane];
    letters[warp][lane] = first[pair * 32 + lane];
    table[warp][0][lane + 1] = -penalty * (lane + 1);
    table[warp][lane + 1][0] = -penalty * (lane + 1);
    if (lane == 0) {
        table[warp][0][0] = 0;
    }
    __syncthreads();
    for (int diagonal = 0; diagonal < 63; diagonal++) {
        int row = diagonal - lane;
        if (row >= 0 && row < 32) {
            int match = table[warp][row][lane] + (letters[warp][row] == own ? 5 : -3);
            int gap = max(table[warp][row][lane + 1], table[warp][row + 1][lane]) - penalty;
            table[warp][row + 1][lane + 1] = max(match, gap);
        }
        __syncthreads();
    }
    scores[pair * 32 + lane] = table[warp][32][lane + 1];
}
