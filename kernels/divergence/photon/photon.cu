// photon follows packets of light through layered tissue of voxels, one a thread, by random walks (as MCX does).
// Directions and distances are drawn by rejection, so that lanes need different numbers of rounds; packets end by absorption, by
// leaving, and by Russian roulette ("photon" and "MCX" in "SIMD Re-Convergence At Thread Frontiers", section 5). Every
// operation rounds once, so the walks are exact.
struct Random {
    unsigned state;
    __device__ unsigned bits() { // xorshift (Marsaglia 2003)
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    __device__ float unit() { return __fmul_rn((float)(bits() >> 8), 5.9604644775390625e-8f); }
    __device__ float symmetric() { return __fadd_rn(__fmul_rn(2.0f, unit()), -1.0f); }
};

extern "C" __global__ void photon(const unsigned char *tissue, int size, const float *reach, const float *albedo, int photons,
                                  int *deposits, int *fates) {
    int photon = blockIdx.x * blockDim.x + threadIdx.x;
    if (photon >= photons) {
        return;
    }
    Random random = {photon * 2654435761u + 12345u};
    float x = 0.5f * size, y = x, z = 0.5f, dx = 0, dy = 0, dz = 1, weight = 1;
    int fate;
#pragma unroll 1
    for (int event = 0;; event++) {
        int cell = ((int)z * size + (int)y) * size + (int)x;
        int kind = tissue[cell];
        if (kind == 0) {
            goto left_tissue; // a cavity swallows the light
        }
        // A distance with exponential distribution, by von Neumann's comparisons of uniform numbers.
        float whole = 0, part;
#pragma unroll 1
        for (;;) {
            float previous = part = random.unit();
            bool odd = true;
#pragma unroll 1
            for (;;) {
                float next = random.unit();
                if (next >= previous) {
                    break;
                }
                previous = next;
                odd = !odd;
            }
            if (odd) {
                break;
            }
            whole = __fadd_rn(whole, 1.0f);
        }
        float distance = __fmul_rn(__fadd_rn(whole, part), reach[kind]);
        x = __fadd_rn(x, __fmul_rn(dx, distance));
        y = __fadd_rn(y, __fmul_rn(dy, distance));
        z = __fadd_rn(z, __fmul_rn(dz, distance));
        if (!(x >= 0 && x < size && y >= 0 && y < size && z >= 0 && z < size)) {
            goto left_tissue;
        }
        cell = ((int)z * size + (int)y) * size + (int)x;
        kind = tissue[cell];
        float kept = __fmul_rn(weight, albedo[kind]);
        atomicAdd(&deposits[cell], (int)__fmul_rn(__fadd_rn(weight, -kept), 65536.0f));
        weight = kept;
        if (weight < 0.0625f) {
            if (random.unit() >= 0.25f) {
                fate = -event;
                goto ended;
            }
            weight = __fmul_rn(weight, 4.0f);
        }
        // A direction: a point in the unit ball, by rejection from the cube.
        float square;
#pragma unroll 1
        do {
            dx = random.symmetric();
            dy = random.symmetric();
            dz = random.symmetric();
            square = __fadd_rn(__fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy)), __fmul_rn(dz, dz));
        } while (square > 1.0f || square < 0.0009765625f);
        float norm = __frcp_rn(__fsqrt_rn(square));
        dx = __fmul_rn(dx, norm);
        dy = __fmul_rn(dy, norm);
        dz = __fmul_rn(dz, norm);
        continue;
    left_tissue:
        fate = (int)__fmul_rn(weight, 65536.0f);
        break;
    }
ended:
    fates[photon] = fate;
}
