// jacobi relaxes a Poisson equation on a grid: five points of the old grid and one of the right side make a point of the new
// one. Nothing is in shared memory; neighbours find each other's rows in L1 or L2. Two sweeps are two launches.
extern "C" __global__ void jacobi(const float *old, const float *right, float *next, int width, int height, float h2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) {
        return;
    }
    int i = y * width + x;
    next[i] = 0.25f * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] - h2 * right[i]);
}
