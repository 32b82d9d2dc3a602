// warp_extremes finds the extremes of the rows of a matrix: of three numbers by one instruction in each thread, then of the threads of a
// warp by one (redux.sync of floats), with and without NaNs, by value and by magnitude (sm_100a alone).

struct Extremes {
    float v[8];
};

// The extremes of all lanes of a mask.
static __device__ Extremes reduced(float most, float least, float loudest, float quietest, unsigned mask) {
    Extremes r;
    asm volatile("redux.sync.max.f32 %0, %1, %2;" : "=f"(r.v[0]) : "f"(most), "r"(mask));
    asm volatile("redux.sync.min.f32 %0, %1, %2;" : "=f"(r.v[1]) : "f"(least), "r"(mask));
    asm volatile("redux.sync.max.abs.f32 %0, %1, %2;" : "=f"(r.v[2]) : "f"(loudest), "r"(mask));
    asm volatile("redux.sync.min.abs.f32 %0, %1, %2;" : "=f"(r.v[3]) : "f"(quietest), "r"(mask));
    asm volatile("redux.sync.max.NaN.f32 %0, %1, %2;" : "=f"(r.v[4]) : "f"(most), "r"(mask));
    asm volatile("redux.sync.min.NaN.f32 %0, %1, %2;" : "=f"(r.v[5]) : "f"(least), "r"(mask));
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, %2;" : "=f"(r.v[6]) : "f"(loudest), "r"(mask));
    asm volatile("redux.sync.min.abs.NaN.f32 %0, %1, %2;" : "=f"(r.v[7]) : "f"(quietest), "r"(mask));
    return r;
}

static __device__ void write(float *out, const Extremes &r) {
    for (int k = 0; k < 8; k++) out[k] = r.v[k];
}

// A warp a row of 256 columns, eight of them a thread. max.f32 and min.f32 of three leave NaNs out.
extern "C" __global__ void warp_extremes(const float *x, float *out) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float v[8];
    asm("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
        : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4]), "=f"(v[5]), "=f"(v[6]), "=f"(v[7])
        : "l"(x + row * 256 + 8 * lane));
    float most = v[0], least = v[0], loudest = v[0], quietest = v[0];
    asm("max.f32 %0, %0, %1, %2;" : "+f"(most) : "f"(v[1]), "f"(v[2]));
    asm("max.f32 %0, %0, %1, %2;" : "+f"(most) : "f"(v[3]), "f"(v[4]));
    asm("max.f32 %0, %0, %1, %2;" : "+f"(most) : "f"(v[5]), "f"(v[6]));
    asm("min.f32 %0, %0, %1, %2;" : "+f"(least) : "f"(v[1]), "f"(v[2]));
    asm("min.f32 %0, %0, %1, %2;" : "+f"(least) : "f"(v[3]), "f"(v[4]));
    asm("min.f32 %0, %0, %1, %2;" : "+f"(least) : "f"(v[5]), "f"(v[6]));
    asm("max.NaN.abs.f32 %0, %0, %1, %2;" : "+f"(loudest) : "f"(v[1]), "f"(v[2]));
    asm("min.NaN.abs.f32 %0, %0, %1, %2;" : "+f"(quietest) : "f"(v[1]), "f"(v[2]));
    write(out + 8 * row, reduced(fmaxf(most, v[7]), fminf(least, v[7]), loudest, quietest, ~0u));
}

// The same of one number a thread, in threes of a mask that only the program knows: lanes 0, 3, 6 ..., 1, 4, 7 ..., 2, 5, 8 ...
extern "C" __global__ void part_extremes(const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, part = threadIdx.x % 32 % 3;
    unsigned mask = 0x49249249u << part;
    float v = x[i];
    Extremes r = reduced(v, v, v, v, mask);
    if (threadIdx.x % 32 == part) write(out + 8 * (i / 32 * 3 + part), r);
}
