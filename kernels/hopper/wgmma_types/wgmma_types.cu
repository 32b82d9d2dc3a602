// Products of 64x64 matrices by one warpgroup, in all types of wgmma: rows of A and columns of B of 128 bytes in shared memory, swizzled
// by 128 bytes, or A in registers, or B transposed. No copy engine takes part, so that this is wgmma alone.
using u32 = unsigned;
using u64 = unsigned long long;

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// The swizzle of 128 bytes, on the absolute address: bits 7 to 9 are added without carry to bits 4 to 6.
static __device__ u32 swizzled(u32 a) { return a ^ (a >> 7 & 7) << 4; }

// A matrix of rows of 128 bytes: 1024 bytes from eight rows to the next, swizzled by 128 bytes.
static __device__ u64 descriptor(u32 a) { return (u64)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62; }

static __device__ void stage(const uint4 *from, unsigned char *to) {
    for (u32 i = threadIdx.x; i < 64 * 8; i += 128) {
        u32 at = swizzled(address(to) + 16 * i);
        uint4 v = from[i];
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
}

static __device__ void arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
static __device__ void finish() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

#define EIGHT(c, i) c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]), c(d[i + 7])
#define ALL(c) EIGHT(c, 0), EIGHT(c, 8), EIGHT(c, 16), EIGHT(c, 24)
#define D32                                                                                                                        \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "    \
    "%26, %27, %28, %29, %30, %31}"
#define SHARED(name, text, reg, tail)                                                                                              \
    struct name {                                                                                                                  \
        template <class T> static __device__ void multiply(T *d, u64 a, u64 b, u32 accumulate) {                                   \
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64" text " " D32                 \
                         ", %32, %33, p" tail "; }"                                                                                \
                         : ALL(reg)                                                                                                \
                         : "l"(a), "l"(b), "r"(accumulate));                                                                       \
        }                                                                                                                          \
    };
#define F(x) "+f"(x)
#define R(x) "+r"(x)
SHARED(Half, "k16.f32.f16.f16", F, ", 1, 1, 0, 0")
SHARED(Negative, "k16.f32.f16.f16", F, ", -1, 1, 0, 0")
SHARED(BFloat, "k16.f32.bf16.bf16", F, ", 1, 1, 0, 0")
SHARED(TFloat, "k8.f32.tf32.tf32", F, ", 1, 1")
SHARED(E4M3, "k32.f32.e4m3.e4m3", F, ", 1, 1")
SHARED(Mixed, "k32.f32.e5m2.e4m3", F, ", 1, 1")
SHARED(Signed, "k32.s32.s8.s8", R, "")
SHARED(Unsigned, "k32.s32.u8.s8", R, "")

// C[row][column], where the PTX ISA says that a thread has it.
template <class T> static __device__ void store(T *c, const T *d) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (u32 i = 0; i < 32; i++)
        c[(16 * warp + lane / 4 + 8 * (i >> 1 & 1)) * 64 + 8 * (i / 4) + 2 * (lane % 4) + (i & 1)] = d[i];
}

template <class M, class T> static __device__ void product(const uint4 *a, const uint4 *b, T *c) {
    __shared__ __align__(1024) unsigned char at[2][64 * 128];
    stage(a, at[0]);
    stage(b, at[1]);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    T d[32] = {};
    u64 da = descriptor(address(at[0])), db = descriptor(address(at[1]));
    arrive();
    for (int k = 0; k < 4; k++)
        M::multiply(d, da + 2 * k, db + 2 * k, k);
    finish();
    store(c, d);
}

extern "C" __global__ void __launch_bounds__(128) half_product(const uint4 *a, const uint4 *b, float *c) { product<Half>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) negative_product(const uint4 *a, const uint4 *b, float *c) { product<Negative>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) bfloat_product(const uint4 *a, const uint4 *b, float *c) { product<BFloat>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) tfloat_product(const uint4 *a, const uint4 *b, float *c) { product<TFloat>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) e4m3_product(const uint4 *a, const uint4 *b, float *c) { product<E4M3>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) mixed_product(const uint4 *a, const uint4 *b, float *c) { product<Mixed>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) signed_product(const uint4 *a, const uint4 *b, int *c) { product<Signed>(a, b, c); }
extern "C" __global__ void __launch_bounds__(128) unsigned_product(const uint4 *a, const uint4 *b, int *c) { product<Unsigned>(a, b, c); }

// A in registers, B transposed: its rows, of 64 columns, lie behind each other, swizzled.
extern "C" __global__ void __launch_bounds__(128) register_product(const u32 *a, const uint4 *b, float *c) {
    __shared__ __align__(1024) unsigned char at[64 * 128];
    stage(b, at);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[32] = {};
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = 16 * warp + lane / 4;
    u64 db = descriptor(address(at));
    arrive();
    for (int k = 0; k < 4; k++) {
        const u32 *from = a + row * 32 + 8 * k + lane % 4;
        u32 a0 = from[0], a1 = from[8 * 32], a2 = from[4], a3 = from[8 * 32 + 4];
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " D32
                     ", {%32, %33, %34, %35}, %36, p, 1, 1, 1; }"
                     : ALL(F)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(db + 128 * k), "r"(k));
    }
    finish();
    store(c, d);
}
