// knn finds the four nearest of many points for every query: the points pass through shared memory in tiles, and each thread
// keeps its best four sorted in registers.
#define TILE 128

extern "C" __global__ void knn(const float *px, const float *py, const float *qx, const float *qy, int *nearest, int points) {
    __shared__ float tx[TILE], ty[TILE];
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    float x = qx[q], y = qy[q];
    float d0 = 1e30f, d1 = 1e30f, d2 = 1e30f, d3 = 1e30f;
    int i0 = -1, i1 = -1, i2 = -1, i3 = -1;
    for (int base = 0; base < points; base += TILE) {
        tx[threadIdx.x] = px[base + threadIdx.x];
        ty[threadIdx.x] = py[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float dx = tx[k] - x, dy = ty[k] - y;
            float d = dx * dx + dy * dy;
            if (d < d3) {
                d3 = d;
                i3 = base + k;
                if (d3 < d2) { float t = d2; d2 = d3; d3 = t; int j = i2; i2 = i3; i3 = j; }
                if (d2 < d1) { float t = d1; d1 = d2; d2 = t; int j = i1; i1 = i2; i2 = j; }
                if (d1 < d0) { float t = d0; d0 = d1; d1 = t; int j = i0; i0 = i1; i1 = j; }
            }
        }
        __syncthreads();
    }
    nearest[4 * q] = i0;
    nearest[4 * q + 1] = i1;
    nearest[4 * q + 2] = i2;
    nearest[4 * q + 3] = i3;
}
