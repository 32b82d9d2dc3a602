// packed_math adds, multiplies and joins pairs of floats by one instruction each (f32x2): every rounding, with and without denormals, with
// numbers of a pair exchanged, taken twice and negated. Rows of eight floats come and go by one access of 256 bits.

using u64 = unsigned long long;

struct Eight {
    float v[8];
};

static __device__ Eight load(const float *p) {
    Eight r;
    asm("ld.global.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
        : "=f"(r.v[0]), "=f"(r.v[1]), "=f"(r.v[2]), "=f"(r.v[3]), "=f"(r.v[4]), "=f"(r.v[5]), "=f"(r.v[6]), "=f"(r.v[7])
        : "l"(p));
    return r;
}

static __device__ void store(float *p, const Eight &r) {
    asm volatile("st.global.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(p), "f"(r.v[0]), "f"(r.v[1]), "f"(r.v[2]), "f"(r.v[3]),
                 "f"(r.v[4]), "f"(r.v[5]), "f"(r.v[6]), "f"(r.v[7])
                 : "memory");
}

static __device__ u64 pair(float low, float high) {
    u64 r;
    asm("mov.b64 %0, {%1, %2};" : "=l"(r) : "f"(low), "f"(high));
    return r;
}

static __device__ void split(u64 p, float *to) { asm("mov.b64 {%0, %1}, %2;" : "=f"(to[0]), "=f"(to[1]) : "l"(p)); }

#define BINARY(name, text)                                                                                                                 \
    struct name {                                                                                                                          \
        static __device__ u64 of(u64 a, u64 b, u64 = 0) {                                                                                      \
            u64 r;                                                                                                                         \
            asm(text " %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));                                                                           \
            return r;                                                                                                                      \
        }                                                                                                                                  \
    };
#define TERNARY(name, text)                                                                                                                \
    struct name {                                                                                                                          \
        static __device__ u64 of(u64 a, u64 b, u64 c) {                                                                                    \
            u64 r;                                                                                                                         \
            asm(text " %0, %1, %2, %3;" : "=l"(r) : "l"(a), "l"(b), "l"(c));                                                               \
            return r;                                                                                                                      \
        }                                                                                                                                  \
    };
BINARY(Add, "add.rn.f32x2")
BINARY(AddDown, "add.rm.f32x2")
BINARY(AddUp, "add.rp.f32x2")
BINARY(AddZero, "add.rz.f32x2")
BINARY(AddFlush, "add.rn.ftz.f32x2")
BINARY(Mul, "mul.rn.f32x2")
BINARY(MulDown, "mul.rm.f32x2")
BINARY(MulUp, "mul.rp.f32x2")
BINARY(MulZero, "mul.rz.f32x2")
BINARY(MulFlush, "mul.rn.ftz.f32x2")
TERNARY(Fma, "fma.rn.f32x2")
TERNARY(FmaDown, "fma.rm.f32x2")
TERNARY(FmaUp, "fma.rp.f32x2")
TERNARY(FmaZero, "fma.rz.f32x2")
TERNARY(FmaFlush, "fma.rn.ftz.f32x2")

template <class Op> static __device__ void apply(const Eight &a, const Eight &b, const Eight &c, float *to, int stride, int &row) {
    Eight r;
    for (int k = 0; k < 8; k += 2)
        split(Op::of(pair(a.v[k], a.v[k + 1]), pair(b.v[k], b.v[k + 1]), pair(c.v[k], c.v[k + 1])), r.v + k);
    store(to + row++ * stride, r);
}

// Fifteen rows of results for a row of a, b and c, stride floats apart.
extern "C" __global__ void packed_math(const float *a, const float *b, const float *c, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (8 * i >= n) return;
    Eight x = load(a + 8 * i), y = load(b + 8 * i), z = load(c + 8 * i);
    float *to = out + 8 * i;
    int row = 0;
    apply<Add>(x, y, z, to, n, row), apply<AddDown>(x, y, z, to, n, row), apply<AddUp>(x, y, z, to, n, row);
    apply<AddZero>(x, y, z, to, n, row), apply<AddFlush>(x, y, z, to, n, row);
    apply<Mul>(x, y, z, to, n, row), apply<MulDown>(x, y, z, to, n, row), apply<MulUp>(x, y, z, to, n, row);
    apply<MulZero>(x, y, z, to, n, row), apply<MulFlush>(x, y, z, to, n, row);
    apply<Fma>(x, y, z, to, n, row), apply<FmaDown>(x, y, z, to, n, row), apply<FmaUp>(x, y, z, to, n, row);
    apply<FmaZero>(x, y, z, to, n, row), apply<FmaFlush>(x, y, z, to, n, row);
}

// A complex product and sum, a * b + c, which exchanges the numbers of a pair, takes one twice and negates one; then a scale and a step
// that all threads share, and constants.
extern "C" __global__ void complex_step(const float *a, const float *b, const float *c, float *out, float scale, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Eight x = load(a + 8 * i), y = load(b + 8 * i), z = load(c + 8 * i), r;
    for (int k = 0; k < 8; k += 2) {
        float re = x.v[k], im = x.v[k + 1];
        u64 t = Fma::of(pair(re, im), pair(y.v[k], y.v[k]), pair(z.v[k], -z.v[k + 1]));
        t = Fma::of(pair(-im, re), pair(y.v[k + 1], y.v[k + 1]), t);
        t = Fma::of(t, pair(scale, scale), pair(step, step));
        t = Mul::of(Add::of(t, pair(-0.5f, -0.5f)), pair(0.75f, 0.75f));
        float low, high, two[2];
        split(t, two), low = two[0], high = two[1];
        split(Add::of(pair(fabsf(low), fabsf(high)), pair(1.0f, -2.0f)), r.v + k);
    }
    store(out + 8 * i, r);
}

// Parts of a row of eight: the others are not loaded.
extern "C" __global__ void some_of_eight(const float *a, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[5];
    asm("ld.global.v8.f32 {%0, _, %1, %2, _, _, %3, %4}, [%5];"
        : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]), "=f"(v[4])
        : "l"(a + 8 * i));
    u64 w[2];
    asm("ld.global.nc.L1::no_allocate.v4.b64 {_, %0, _, %1}, [%2];" : "=l"(w[0]), "=l"(w[1]) : "l"(a + 8 * i));
    for (int k = 0; k < 5; k++) out[9 * i + k] = v[k];
    split(w[0], out + 9 * i + 5), split(w[1], out + 9 * i + 7);
}
