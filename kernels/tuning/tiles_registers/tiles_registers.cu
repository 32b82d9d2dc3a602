// tiles_registers smooths a signal tile by tile: each thread sums what is near its element, weighted by the distance.
// A tile goes to shared memory by way of registers, and the block waits for it.
const int TILE = 256;

extern "C" __global__ void tiles_registers(const float *__restrict__ in, float *__restrict__ out, int tiles) {
    __shared__ float tile[TILE];
    int t = threadIdx.x, first = blockIdx.x * tiles * TILE + t;
    for (int k = 0; k < tiles; k++) {
        tile[t] = in[first + k * TILE];
        __syncthreads();
        float sum = 0;
#pragma unroll
        for (int d = 0; d < 32; d++) {
            sum = fmaf(sum, 0.875f, tile[(t + d) % TILE]);
        }
        out[first + k * TILE] = sum;
        __syncthreads();
    }
}
