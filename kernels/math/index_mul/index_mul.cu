// index_mul copies a padded volume into a dense one as index_div does.
// Each divisor comes with a multiplier that the host has computed, ceil(2^32 / divisor): for numbers this small the high
// half of a product is the quotient (Granlund and Montgomery 1994). The partner of index_div.
extern "C" __global__ void index_mul(const float *padded, float *dense, unsigned n, unsigned width, unsigned height,
                                     unsigned pitch, unsigned padded_height, unsigned width_inverse, unsigned height_inverse) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned row = __umulhi(i, width_inverse);
        unsigned z = __umulhi(row, height_inverse);
        unsigned x = i - row * width;
        unsigned y = row - z * height;
        dense[i] = padded[(z * padded_height + y) * pitch + x];
    }
}
