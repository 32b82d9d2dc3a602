// mma_f8 multiplies small matrices of 8-bit floats, a warp each: all four combinations of e4m3 and e5m2, sums in single and in half
// precision, depths of 32 and of 16. sm_100 has no instruction for it: the compiler makes halves of them. Fragments are loaded and stored
// as the PTX ISA lays them out; a is in rows, b in columns.

static __device__ int element(int i) { return (threadIdx.x / 4 + 8 * (i / 2)) * 8 + threadIdx.x % 4 * 2 + i % 2; }

#define PRODUCT(name, types)                                                                                                               \
    struct name {                                                                                                                          \
        static __device__ void multiply(float *c, const unsigned *a, const unsigned *b) {                                                  \
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." types ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"       \
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                                  \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                              \
        }                                                                                                                                  \
    };
PRODUCT(SmallSmall, "e4m3.e4m3")
PRODUCT(SmallLarge, "e4m3.e5m2")
PRODUCT(LargeSmall, "e5m2.e4m3")
PRODUCT(LargeLarge, "e5m2.e5m2")

template <class P> static __device__ void whole(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[4], fb[2];
    float sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[(threadIdx.x / 4 + 8 * (r % 2)) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[threadIdx.x / 4 * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    P::multiply(sum, fa, fb);
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

extern "C" __global__ void e4m3_e4m3(const unsigned *a, const unsigned *b, float *c) { whole<SmallSmall>(a, b, c); }
extern "C" __global__ void e4m3_e5m2(const unsigned *a, const unsigned *b, float *c) { whole<SmallLarge>(a, b, c); }
extern "C" __global__ void e5m2_e4m3(const unsigned *a, const unsigned *b, float *c) { whole<LargeSmall>(a, b, c); }
extern "C" __global__ void e5m2_e5m2(const unsigned *a, const unsigned *b, float *c) { whole<LargeLarge>(a, b, c); }

// Half the depth, sums in half precision.
extern "C" __global__ void half_depth(const unsigned *a, const unsigned *b, unsigned *c) {
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 64;
    int row = threadIdx.x / 4, column = threadIdx.x % 4;
    unsigned a0 = a[row * 4 + column], a1 = a[(row + 8) * 4 + column], b0 = b[row * 4 + column];
    unsigned c0 = c[row * 4 + column], c1 = c[(row + 8) * 4 + column];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(c0), "+r"(c1)
                 : "r"(a0), "r"(a1), "r"(b0));
    c[row * 4 + column] = c0, c[(row + 8) * 4 + column] = c1;
}
