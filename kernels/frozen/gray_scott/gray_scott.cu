// gray_scott takes a step of a reaction of two substances that diffuse on a torus: five points of both, a tile with its halo
// in shared memory.
#define SIDE 16

extern "C" __global__ void gray_scott(const float *u, const float *v, float *un, float *vn, int width, int height, float feed, float kill) {
    __shared__ float su[SIDE + 2][SIDE + 2], sv[SIDE + 2][SIDE + 2];
    int x0 = blockIdx.x * SIDE - 1, y0 = blockIdx.y * SIDE - 1;
    for (int t = threadIdx.y * SIDE + threadIdx.x; t < (SIDE + 2) * (SIDE + 2); t += SIDE * SIDE) {
        int x = (x0 + t % (SIDE + 2) + width) % width, y = (y0 + t / (SIDE + 2) + height) % height;
        su[t / (SIDE + 2)][t % (SIDE + 2)] = u[y * width + x];
        sv[t / (SIDE + 2)][t % (SIDE + 2)] = v[y * width + x];
    }
    __syncthreads();
    int i = threadIdx.y + 1, j = threadIdx.x + 1;
    float a = su[i][j], b = sv[i][j];
    float lu = su[i - 1][j] + su[i + 1][j] + su[i][j - 1] + su[i][j + 1] - 4.0f * a;
    float lv = sv[i - 1][j] + sv[i + 1][j] + sv[i][j - 1] + sv[i][j + 1] - 4.0f * b;
    float r = a * b * b;
    int at = (blockIdx.y * SIDE + threadIdx.y) * width + blockIdx.x * SIDE + threadIdx.x;
    un[at] = a + 0.16f * lu - r + feed * (1.0f - a);
    vn[at] = b + 0.08f * lv + r - (feed + kill) * b;
}
