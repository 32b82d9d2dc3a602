// surface_2d blurs a picture of bytes through surfaces, beyond whose edges texels are those of the edge in one direction and 0 in the other, keeps
// levels of it as layers, and then reads what it has written as a texture.
extern "C" __global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to, cudaSurfaceObject_t levels, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    uchar4 here = surf2Dread<uchar4>(from, 4 * min(x, width - 1), min(y, height - 1));
    uchar4 left = surf2Dread<uchar4>(from, 4 * (x - 1), y, cudaBoundaryModeClamp);
    uchar4 below = surf2Dread<uchar4>(from, 4 * x, y + 1, cudaBoundaryModeZero);
    uchar4 mean = make_uchar4((2 * here.x + left.x + below.x) / 4, (2 * here.y + left.y + below.y) / 4, (2 * here.z + left.z + below.z) / 4,
                              (2 * here.w + left.w + below.w) / 4);
    surf2Dwrite(mean, to, 4 * x, y, cudaBoundaryModeZero); // threads beyond the edges write nothing
    if (x < width && y < height) {
        surf2DLayeredwrite((short)(mean.x - mean.y), levels, 2 * x, y, 0);
        surf2DLayeredwrite((short)(mean.z * mean.w), levels, 2 * x, y, 1);
    }
}

extern "C" __global__ void readback(float4 *out, short *planes, cudaTextureObject_t blurred, cudaSurfaceObject_t levels, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    out[y * width + x] = tex2D<float4>(blurred, x + 0.5f, y + 0.5f);
    planes[y * width + x] = surf2DLayeredread<short>(levels, 2 * x, y, 0);
    planes[(height + y) * width + x] = surf2DLayeredread<short>(levels, 2 * x, y, 1);
}
