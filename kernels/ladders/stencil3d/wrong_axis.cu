// Wave equation on a grid with a stencil of 13 points, version 1 of 4: a thread a point; neighbouring threads are
// neighbours along the slowest axis
#include "digest.h"

const float C0 = -7.5f, C1 = 4.0f / 3, C2 = -1.0f / 12;
const int R = 2;

extern "C" __global__ void stencil(const float *in, float *out, int nz, int ny, int nx) {
    int z = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int x = blockIdx.z * blockDim.z + threadIdx.z;
    int row = nx + 2 * R, plane = row * (ny + 2 * R);
    const float *p = in + (z + R) * plane + (y + R) * row + x + R;
    out[(z * ny + y) * nx + x] = C0 * p[0] + C1 * (p[-1] + p[1] + p[-row] + p[row] + p[-plane] + p[plane]) +
                                 C2 * (p[-2] + p[2] + p[-2 * row] + p[2 * row] + p[-2 * plane] + p[2 * plane]);
}
