// stencil3d applies a 7-point stencil to a volume; a thread marches along z and keeps the last three planes' values in
// registers.
// Four of the seven values come from neighbouring threads' columns by way of the cache. The border keeps its values.
extern "C" __global__ void stencil3d(const float *in, float *out, int nx, int ny, int nz, float center, float side) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) {
        return;
    }
    bool border = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    int plane = nx * ny;
    int i = y * nx + x;
    float below = in[i];
    float here = in[i + plane];
    out[i] = below;
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = in[i + plane];
        float v = here;
        if (!border) {
            v = center * here + side * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        }
        out[i] = v;
        below = here;
        here = above;
    }
    out[i + plane] = here;
}
