// index_div copies a padded volume into a dense one, and finds each element's coordinates by division.
// Four divisions and remainders by numbers that are known only at run time, for one load and one store. Its partner is
// index_mul.
extern "C" __global__ void index_div(const float *padded, float *dense, unsigned n, unsigned width, unsigned height,
                                     unsigned pitch, unsigned padded_height) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = i % width;
        unsigned y = i / width % height;
        unsigned z = i / width / height;
        dense[i] = padded[(z * padded_height + y) * pitch + x];
    }
}
