// Wave equation on a grid with a stencil of 13 points, version 3 of 4: a thread marches along the slowest axis and
// keeps the five values of its column in registers
#include "digest.h"

const float C0 = -7.5f, C1 = 4.0f / 3, C2 = -1.0f / 12;
const int R = 2;

const int DEPTH = 8;

extern "C" __global__ void stencil(const float *__restrict__ in, float *__restrict__ out, int nz, int ny, int nx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z0 = blockIdx.z * DEPTH;
    int row = nx + 2 * R, plane = row * (ny + 2 * R);
    const float *p = in + (z0 + R) * plane + (y + R) * row + x + R;
    float below2 = p[-2 * plane], below = p[-plane], here = p[0], above = p[plane];
    for (int z = z0; z < z0 + DEPTH; z++) {
        float above2 = p[2 * plane];
        out[(z * ny + y) * nx + x] = C0 * here + C1 * (p[-1] + p[1] + p[-row] + p[row] + below + above) +
                                     C2 * (p[-2] + p[2] + p[-2 * row] + p[2 * row] + below2 + above2);
        below2 = below;
        below = here;
        here = above;
        above = above2;
        p += plane;
    }
}
