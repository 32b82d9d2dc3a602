// warp_votes exercises the operations by which the lanes of a warp tell each other things: votes, matches and shuffles of
// all kinds, under full and partial masks.
extern "C" __global__ void warp_votes(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    const unsigned all = 0xffffffff;
    int v = in[i];
    unsigned odd = __ballot_sync(all, v & 1);
    int flags = __any_sync(all, v > 900) | __all_sync(all, v > 20) << 1;
    unsigned same = __match_any_sync(all, v % 5);
    int agree;
    unsigned everyone = __match_all_sync(all, odd & 1, &agree);
    int rotated = __shfl_sync(all, v, lane + v % 7);
    int before = __shfl_up_sync(all, v, 3, 16);
    int after = __shfl_down_sync(all, v, 5, 8);
    int mirrored = __shfl_xor_sync(all, v, 21);
    int partial = -1;
    if (v & 1) { // the odd lanes among themselves
        int rank = __popc(odd & ((1u << lane) - 1));
        int first = __shfl_sync(odd, v, __ffs(odd) - 1);
        unsigned large = __ballot_sync(odd, v > 500);
        partial = rank + 100 * first + 1000000 * __popc(large);
    }
    __syncwarp();
    int *mine = out + 10 * i;
    mine[0] = odd;
    mine[1] = flags;
    mine[2] = same;
    mine[3] = everyone & 255;
    mine[4] = agree;
    mine[5] = rotated;
    mine[6] = before;
    mine[7] = after;
    mine[8] = mirrored;
    mine[9] = partial;
}
