// Price of an option by 65,536 paths of 16 steps, version 1 of 5: double precision; every path is added to the sum
// by an atomic operation
__device__ unsigned next(unsigned &state) { // xorshift (Marsaglia 2003)
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__device__ unsigned seed(unsigned i) {
    i = (i + 1) * 2654435769u;
    i = (i ^ i >> 16) * 0x85ebca6bu;
    return (i ^ i >> 13) | 1;
}

extern "C" __global__ void price(float *sum, int steps) {
    unsigned state = seed(blockIdx.x * blockDim.x + threadIdx.x);
    double value = 100;
    for (int s = 0; s < steps; s++) {
        double u = (next(state) + 1.0) / 4294967296.0, v = next(state) / 4294967296.0;
        double normal = sqrt(-2 * log(u)) * cospi(2 * v);
        value *= exp(0.0005 + 0.05 * normal);
    }
    atomicAdd(sum, (float)fmax(value - 100, 0.0));
}
