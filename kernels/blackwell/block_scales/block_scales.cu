// Products whose blocks of elements have scales, tcgen05.mma with .block_scale: 32 elements of 8 bits or less share a power of two, or 32 or 16
// elements of 4 bits a scale of either type. Rows of A and columns of B of 128 bytes lie in shared memory, swizzled by 128 bytes. The scales lie in
// tensor memory, the same in each 32 lanes: those of row r in lane r % 32, of each 32 rows in a column, four of a row in its cell.
using u32 = unsigned;
using u64 = unsigned long long;

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// The swizzle of 128 bytes, on the absolute address: bits 7 to 9 are added without carry to bits 4 to 6.
static __device__ u32 swizzled(u32 a) { return a ^ (a >> 7 & 7) << 4; }

// A matrix of rows of 128 bytes: 1024 bytes from eight rows to the next, swizzled by 128 bytes.
static __device__ u64 descriptor(u32 a) { return (u64)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }

static __device__ void stage(const uint4 *from, unsigned char *to, u32 rows) {
    for (u32 i = threadIdx.x; i < rows * 8; i += 128) {
        u32 at = swizzled(address(to) + 16 * i);
        uint4 v = from[i];
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
}

static __device__ void ready() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

static __device__ void put(u32 at, u32 value) { asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(at), "r"(value) : "memory"); }

// The instruction descriptor of 128 rows and 16 columns: the types of A and B, and whether scales are powers of two.
static __device__ constexpr u32 product(u32 a, u32 b, u32 powers) { return a << 7 | b << 10 | 16 / 8 << 17 | powers << 23 | 1 << 27; }

enum { NegateB = 1 << 14 };

#define KIND(name, per, text)                                                                                                      \
    struct name {                                                                                                                  \
        static const u32 scales = per; /* of a row in a step */                                                                    \
        static __device__ void multiply(u32 d, u64 a, u64 b, u32 what, u32 sa, u32 sb, u32 accumulate) {                           \
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %6, 0; tcgen05.mma.cta_group::1.kind::" text " [%0], %1, %2, %3, [%4], [%5], p; }" \
                         ::"r"(d), "l"(a), "l"(b), "r"(what), "r"(sa), "r"(sb), "r"(accumulate) : "memory");                       \
        }                                                                                                                          \
    };
KIND(Eight, 1, "mxf8f6f4.block_scale.scale_vec::1X")
KIND(Four, 2, "mxf4.block_scale.scale_vec::2X")
KIND(FourOfSixteen, 4, "mxf4nvf4.block_scale.scale_vec::4X")

enum { A = 32, B = 64, Columns = 128 }; // where the scales begin

// C = A * B of 128 x 16, four steps of 32 bytes of each row, with K::scales words of four scales a row.
template <class K> static __device__ void multiplied(const uint4 *a, const uint4 *b, const u32 *sa, const u32 *sb, u32 *c, u32 what) {
    __shared__ __align__(1024) unsigned char at[144 * 128];
    __shared__ u32 place;
    __shared__ u64 barrier;
    stage(a, at, 128);
    stage(b, at + 128 * 128, 16);
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address(&place)), "r"(Columns) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
    }
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barrier)) : "memory");
    ready();
    u32 own = place + (threadIdx.x / 32 << 21), lane = threadIdx.x % 32;
    for (u32 word = 0; word < K::scales; word++) {
        for (u32 rows = 0; rows < 4; rows++)
            put(own + A + 4 * word + rows, sa[(32 * rows + lane) * K::scales + word]);
        put(own + B + word, lane < 16 ? sb[lane * K::scales + word] : 0);
    }
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    ready();
    if (threadIdx.x == 0) {
        u64 da = descriptor(address(at)), db = descriptor(address(at + 128 * 128));
        for (u32 k = 0; k < 4; k++) {
            u32 word = k * K::scales / 4, first = k * K::scales % 4; // of the four of a cell
            K::multiply(place, da + 2 * k, db + 2 * k, what | first << 4 | first << 29, place + A + 4 * word, place + B + word, k);
        }
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(__cvta_generic_to_shared(&barrier)) : "memory");
    }
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(address(&barrier)) : "memory");
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    for (u32 i = 0; i < 16; i++) {
        u32 v;
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(own + i));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        c[threadIdx.x * 16 + i] = v;
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(place), "r"(Columns) : "memory");
}

#define PRODUCT(name, kind, what)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) name(const uint4 *a, const uint4 *b, const u32 *sa, const u32 *sb, u32 *c) { multiplied<kind>(a, b, sa, sb, c, what); }
PRODUCT(e4m3_product, Eight, product(0, 0, 1))
PRODUCT(mixed_product, Eight, product(1, 5, 1))
PRODUCT(negative_product, Eight, product(3, 4, 1) | NegateB)
PRODUCT(four_product, Four, product(1, 1, 1))
PRODUCT(sixteen_product, FourOfSixteen, product(1, 1, 0))
PRODUCT(power_product, FourOfSixteen, product(1, 1, 1))
