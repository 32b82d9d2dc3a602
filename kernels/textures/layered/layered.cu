// layered reads integers from layers of pictures and of rows, whose numbers go beyond the last, and directions from the faces of cubes.
extern "C" __global__ void layered(int2 *pictures, unsigned short *rows, float *sky, float *skies, cudaTextureObject_t picture, cudaTextureObject_t row,
                                   cudaTextureObject_t cube, cudaTextureObject_t cubes, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= width) {
        return;
    }
    int at = (z * height + y) * width + x;
    pictures[at] = tex2DLayered<int2>(picture, x - 2.5f, y - 1.5f, z);
    rows[at] = tex1DLayered<unsigned short>(row, 0.75f * x, y);
    float dx = x - 15.37f, dy = 2 * y - 8.6f, dz = 6 * z - 9.2f;
    sky[at] = texCubemap<float>(cube, dx, dy, dz);
    skies[at] = texCubemapLayered<float>(cubes, dx, dy, dz, z - 1);
}
