// tallies_warps sums up the roots of rows of 256 numbers.
// The partner of tallies_serial: every warp has rows of its own, so that none waits.
extern "C" __global__ void tallies_warps(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int lane = threadIdx.x % 32;
    for (int r = threadIdx.x / 32; r < rows; r += 8) {
        float sum = 0;
        for (int k = 0; k < 8; k++) {
            sum += __fsqrt_rn(in[(blockIdx.x * rows + r) * 256 + k * 32 + lane]);
        }
        for (int d = 16; d > 0; d /= 2) {
            sum += __shfl_down_sync(~0u, sum, d);
        }
        if (lane == 0) {
            out[blockIdx.x * rows + r] = sum;
        }
    }
}
