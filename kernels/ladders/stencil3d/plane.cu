// Wave equation on a grid with a stencil of 13 points, version 4 of 4: the plane that a block is in lies in shared
// memory
#include "digest.h"

const float C0 = -7.5f, C1 = 4.0f / 3, C2 = -1.0f / 12;
const int R = 2;

const int DEPTH = 8, TX = 32, TY = 8, WIDE = TX + 2 * R, HIGH = TY + 2 * R;

extern "C" __global__ void stencil(const float *__restrict__ in, float *__restrict__ out, int nz, int ny, int nx) {
    __shared__ float tile[HIGH][WIDE];
    int tx = threadIdx.x + R, ty = threadIdx.y + R;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y, z0 = blockIdx.z * DEPTH;
    int row = nx + 2 * R, plane = row * (ny + 2 * R);
    const float *p = in + (z0 + R) * plane + (y + R) * row + x + R;
    float below2 = p[-2 * plane], below = p[-plane], here = p[0], above = p[plane];
    for (int z = z0; z < z0 + DEPTH; z++) {
        float above2 = p[2 * plane];
        tile[ty][tx] = here;
        if (threadIdx.y < R) {
            tile[ty - R][tx] = p[-R * row];
            tile[ty + TY][tx] = p[TY * row];
        }
        if (threadIdx.x < R) {
            tile[ty][tx - R] = p[-R];
            tile[ty][tx + TX] = p[TX];
        }
        __syncthreads();
        out[(z * ny + y) * nx + x] = C0 * here + C1 * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + below + above) +
                                     C2 * (tile[ty][tx - 2] + tile[ty][tx + 2] + tile[ty - 2][tx] + tile[ty + 2][tx] + below2 + above2);
        __syncthreads();
        below2 = below;
        below = here;
        here = above;
        above = above2;
        p += plane;
    }
}
