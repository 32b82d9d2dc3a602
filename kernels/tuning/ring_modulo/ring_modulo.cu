// ring_modulo sums elements of a ring at distances that grow.
// The compiler does not know the length of the ring and divides. Its partner is ring_mask.
extern "C" __global__ void ring_modulo(const float *in, float *out, unsigned length, unsigned rounds) {
    const float *ring = in + blockIdx.x * length;
    unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned k = 0; k < rounds; k++) {
        sum += ring[(t * 5 + k * 37) % length] * (k + 1);
    }
    out[blockIdx.x * length + t] = sum;
}
