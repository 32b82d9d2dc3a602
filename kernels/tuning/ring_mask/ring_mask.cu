// ring_mask sums elements of a ring at distances that grow.
// The partner of ring_modulo: the length is a power of two, so that a mask does.
extern "C" __global__ void ring_mask(const float *in, float *out, unsigned length, unsigned rounds) {
    const float *ring = in + blockIdx.x * length;
    unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned k = 0; k < rounds; k++) {
        sum += ring[(t * 5 + k * 37) & (length - 1)] * (k + 1);
    }
    out[blockIdx.x * length + t] = sum;
}
