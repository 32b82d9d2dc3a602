// Products of a block whose sums are in tensor memory, in the types of tcgen05.mma: rows of A and columns of B of 128 bytes in shared
// memory, swizzled by 128 bytes, or A in tensor memory, or B transposed. Then all shapes of loads and stores of tensor memory and copies to
// it, and times of products. No copy engine takes part, so that this is tcgen05 alone.
using u32 = unsigned;
using u64 = unsigned long long;

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// The swizzle of 128 bytes, on the absolute address: bits 7 to 9 are added without carry to bits 4 to 6.
static __device__ u32 swizzled(u32 a) { return a ^ (a >> 7 & 7) << 4; }

// A matrix of rows of 128 bytes: 1024 bytes from eight rows to the next, swizzled by 128 bytes.
static __device__ u64 descriptor(u32 a) { return (u64)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }

// A matrix of units of 16 bytes, of which eight lie together: so many bytes from one eight to the next in the two directions.
static __device__ u64 units(u32 a, u32 lead, u32 stride) { return (u64)(a >> 4 & 0x3fff) | (u64)(lead >> 4) << 16 | (u64)(stride >> 4) << 32 | 1ull << 46; }

static __device__ void stage(const uint4 *from, unsigned char *to, u32 rows) {
    for (u32 i = threadIdx.x; i < rows * 8; i += 128) {
        u32 at = swizzled(address(to) + 16 * i);
        uint4 v = from[i];
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
}

// What a block has: columns of tensor memory and a barrier.
struct Block {
    u32 columns, *place;
    u64 *barrier;
    u32 phase;

    __device__ Block(u32 columns, u32 *place, u64 *barrier) : columns(columns), place(place), barrier(barrier), phase(0) {
        if (threadIdx.x < 32) {
            asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address(place)), "r"(columns) : "memory");
            asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
        }
        if (threadIdx.x == 0)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
        ready();
    }

    // What threads have written can be read by products behind this.
    __device__ void ready() {
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    }

    // One thread has the barrier count the end of its products.
    __device__ void commit() { asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(__cvta_generic_to_shared(barrier)) : "memory"); }

    __device__ void wait() {
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(barrier)), "r"(phase) : "memory");
        phase ^= 1;
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    }

    // The block's columns, of the lanes of the warp.
    __device__ u32 own() { return *place + (threadIdx.x / 32 << 21); }

    __device__ void end() {
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        __syncthreads();
        if (threadIdx.x < 32)
            asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(*place), "r"(columns) : "memory");
    }
};

#define BLOCK(columns)                                                                                                             \
    __shared__ u32 place;                                                                                                          \
    __shared__ u64 barrier;                                                                                                        \
    Block block(columns, &place, &barrier)

#define EIGHT(v, i) "=r"(v[i]), "=r"(v[i + 1]), "=r"(v[i + 2]), "=r"(v[i + 3]), "=r"(v[i + 4]), "=r"(v[i + 5]), "=r"(v[i + 6]), "=r"(v[i + 7])
#define IN8(v, i) "r"(v[i]), "r"(v[i + 1]), "r"(v[i + 2]), "r"(v[i + 3]), "r"(v[i + 4]), "r"(v[i + 5]), "r"(v[i + 6]), "r"(v[i + 7])
#define V8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define V16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"

static __device__ void load16(u32 *v, u32 at) {
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 " V16 ", [%16];" : EIGHT(v, 0), EIGHT(v, 8) : "r"(at));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}

// The instruction descriptor of a product of M rows and N columns.
static __device__ constexpr u32 product(u32 sums, u32 a, u32 b, u32 m, u32 n) { return sums << 4 | a << 7 | b << 10 | n / 8 << 17 | m / 16 << 24; }

enum { F16 = 0, F32 = 1, S32 = 2 };
enum { NegateA = 1 << 13, TransposeB = 1 << 16 };

#define KIND(name, text)                                                                                                           \
    struct name {                                                                                                                  \
        static __device__ void multiply(u32 d, u64 a, u64 b, u32 what, u32 accumulate) {                                           \
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" text " [%0], %1, %2, %3, p; }"      \
                         ::"r"(d), "l"(a), "l"(b), "r"(what), "r"(accumulate) : "memory");                                         \
        }                                                                                                                          \
        static __device__ void multiplyTensor(u32 d, u32 a, u64 b, u32 what, u32 accumulate) {                                     \
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" text " [%0], [%1], %2, %3, p; }"    \
                         ::"r"(d), "r"(a), "l"(b), "r"(what), "r"(accumulate) : "memory");                                         \
        }                                                                                                                          \
    };
KIND(Half, "f16")
KIND(TFloat, "tf32")
KIND(Narrow, "f8f6f4")
KIND(Byte, "i8")

// C = A * B of M x 16, four steps of 32 bytes of each row.
template <class K> static __device__ void multiplied(const uint4 *a, const uint4 *b, u32 *c, u32 m, u32 what) {
    __shared__ __align__(1024) unsigned char at[144 * 128];
    stage(a, at, m);
    stage(b, at + 128 * 128, 16);
    BLOCK(32);
    u64 da = descriptor(address(at)), db = descriptor(address(at + 128 * 128));
    if (threadIdx.x == 0) {
        for (int k = 0; k < 4; k++)
            K::multiply(*block.place, da + 2 * k, db + 2 * k, what, k);
        block.commit();
    }
    block.wait();
    u32 v[16], row = threadIdx.x;
    load16(v, block.own());
    if (m == 64) // 16 rows in the first lanes of each 32
        row = threadIdx.x % 32 < 16 ? threadIdx.x / 32 * 16 + threadIdx.x % 16 : m;
    for (int i = 0; i < 16; i++)
        if (row < m)
            c[row * 16 + i] = v[i];
    block.end();
}

#define PRODUCT(name, kind, m, what)                                                                                               \
    extern "C" __global__ void __launch_bounds__(128) name(const uint4 *a, const uint4 *b, u32 *c) { multiplied<kind>(a, b, c, m, what); }
PRODUCT(half_product, Half, 128, product(F32, 0, 0, 128, 16))
PRODUCT(negative_product, Half, 128, product(F32, 0, 0, 128, 16) | NegateA)
PRODUCT(half_sums, Half, 128, product(F16, 0, 0, 128, 16))
PRODUCT(small_product, Half, 64, product(F32, 0, 0, 64, 16))
PRODUCT(bfloat_product, Half, 128, product(F32, 1, 1, 128, 16))
PRODUCT(tfloat_product, TFloat, 128, product(F32, 2, 2, 128, 16))
PRODUCT(e4m3_product, Narrow, 128, product(F32, 0, 0, 128, 16))
PRODUCT(mixed_product, Narrow, 128, product(F32, 1, 0, 128, 16))
PRODUCT(e2m1_product, Narrow, 128, product(F32, 5, 5, 128, 16))
PRODUCT(six_product, Narrow, 128, product(F32, 3, 4, 128, 16))
PRODUCT(signed_product, Byte, 128, product(S32, 1, 1, 128, 16))
PRODUCT(unsigned_product, Byte, 128, product(S32, 0, 1, 128, 16))

// A in tensor memory behind D, two halves a cell, and B transposed: of each eight of its rows those of eight columns lie together.
extern "C" __global__ void __launch_bounds__(128) tensor_product(const u32 *a, const uint4 *b, u32 *c) {
    __shared__ __align__(1024) unsigned char at[64 * 32];
    for (u32 i = threadIdx.x; i < 128; i += 128)
        ((uint4 *)at)[i % 2 * 64 + i / 2] = b[i];
    BLOCK(64);
    for (int k = 0; k < 4; k++) {
        const u32 *v = a + threadIdx.x * 32 + 8 * k;
        asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], " V8 ";" ::IN8(v, 0), "r"(block.own() + 32 + 8 * k) : "memory");
    }
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    block.ready();
    if (threadIdx.x == 0) {
        for (int k = 0; k < 4; k++)
            Half::multiplyTensor(*block.place, *block.place + 32 + 8 * k, units(address(at) + 256 * k, 128, 1024), product(F32, 0, 0, 128, 16) | TransposeB, k);
        block.commit();
    }
    block.wait();
    u32 v[16];
    load16(v, block.own());
    for (int i = 0; i < 16; i++)
        c[threadIdx.x * 16 + i] = v[i];
    block.end();
}

static __device__ void keep(u32 *out, u32 n, const u32 *v) {
    for (int i = 0; i < 8; i++)
        out[(n * 128 + threadIdx.x) * 8 + i] = v[i];
}

#define LOADED(n, text)                                                                                                            \
    asm volatile("tcgen05.ld.sync.aligned." text ".b32 " V8 ", [%8];" : EIGHT(v, 0) : "r"(at));                                      \
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");                                                                   \
    keep(out, n, v);

// Cells that hold their lane and column, in all shapes in which they can be loaded; then the same stored in one shape and loaded in another.
extern "C" __global__ void __launch_bounds__(128) shapes(u32 *out) {
    BLOCK(32);
    u32 at = block.own(), v[8];
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 8; i++)
            v[i] = threadIdx.x << 16 | (8 * k + i);
        asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], " V8 ";" ::IN8(v, 0), "r"(at + 8 * k) : "memory");
    }
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    LOADED(0, "32x32b.x8")
    LOADED(1, "16x64b.x8")
    LOADED(2, "16x128b.x4")
    LOADED(3, "16x256b.x2")
    asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x8.b32 " V8 ", [%8], 16;" : EIGHT(v, 0) : "r"(at));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    keep(out, 4, v);
    LOADED(5, "32x32b.x8.pack::16b")
    LOADED(6, "16x256b.x2.pack::16b")
    for (int i = 0; i < 8; i++)
        v[i] = threadIdx.x * 8 + i;
    asm volatile("tcgen05.st.sync.aligned.16x128b.x4.b32 [%8], " V8 ";" ::IN8(v, 0), "r"(at) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    LOADED(7, "32x32b.x8")
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.unpack::16b.b32 [%8], " V8 ";" ::IN8(v, 0), "r"(at) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    LOADED(8, "32x32b.x8")
    block.end();
}

#define COPIED(n, text)                                                                                                            \
    if (threadIdx.x == 0) {                                                                                                        \
        asm volatile("tcgen05.cp.cta_group::1." text " [%0], %1;" ::"r"(*block.place), "l"(from) : "memory");                        \
        block.commit();                                                                                                            \
    }                                                                                                                              \
    block.wait();                                                                                                                  \
    LOADED(n, "32x32b.x8")                                                                                                         \
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");                                                               \
    __syncthreads();                                                                                                               \
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

// Copies of rows of 16 or 32 bytes to tensor memory, which is zero before.
extern "C" __global__ void __launch_bounds__(128) copies(const u32 *a, u32 *out) {
    __shared__ __align__(1024) u32 staged[128 * 8];
    for (u32 i = threadIdx.x; i < 128 * 8; i += 128)
        staged[i] = a[i];
    BLOCK(32);
    u32 at = block.own(), v[8] = {};
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], " V8 ";" ::IN8(v, 0), "r"(at) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    block.ready();
    u64 from = units(address(staged), 2048, 128);
    COPIED(0, "32x128b.warpx4")
    COPIED(1, "64x128b.warpx2::02_13")
    COPIED(2, "64x128b.warpx2::01_23")
    COPIED(3, "128x128b")
    COPIED(4, "128x256b")
    block.end();
}

// One of the threads of a warp, of which the compiler knows that it is one.
static __device__ u32 elected() {
    u32 one;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(one));
    return one;
}

// The cycles of so many products, with the wait for them.
template <bool tensor, int products> static __device__ void timed(u32 m, u32 n, u32 *cycles) {
    __shared__ __align__(1024) unsigned char at[32 << 10]; // of both matrices
    for (u32 i = threadIdx.x; i < sizeof at / 16; i += 128)
        ((uint4 *)at)[i] = uint4{};
    BLOCK(512);
    u64 matrix = descriptor(address(at));
    u32 what = product(F32, 0, 0, m, n), d = *block.place;
#pragma unroll 1
    for (int round = 0; round < 2; round++) { // the first fills the caches
        block.ready();
        if (threadIdx.x < 32 && elected()) {
            u32 begin = clock();
            for (int k = 0; k < products; k++) {
                if (tensor)
                    Half::multiplyTensor(d, d + 256, matrix, what, 1);
                else
                    Half::multiply(d, matrix, matrix, what, 1);
            }
            block.commit();
            block.wait();
            *cycles = clock() - begin;
        } else
            block.phase ^= 1;
    }
    block.end();
}
extern "C" __global__ void __launch_bounds__(128) one_time(u32 m, u32 n, u32 *cycles) { timed<false, 1>(m, n, cycles); }
extern "C" __global__ void __launch_bounds__(128) many_times(u32 m, u32 n, u32 *cycles) { timed<false, 33>(m, n, cycles); }
extern "C" __global__ void __launch_bounds__(128) tensor_time(u32 m, u32 n, u32 *cycles) { timed<true, 1>(m, n, cycles); }
