// Products of a warp whose blocks of elements have scales, mma with .block_scale: 32 elements of 8 bits or less share a power of two, or 32 or 16
// elements of 4 bits a scale of either type. A warp multiplies 16 rows of A with 8 columns of B, of 128 bytes each, in four steps of 32 bytes; every
// element of 8 bits or less has a byte there, but those of 4 bits alone stand two a byte. A step takes other bytes of the lanes' scales, of
// other lanes: the kernel puts the step's scales there and what they must not be everywhere else.
using u32 = unsigned;
using u16 = unsigned short;

// The scales of a step from some byte on of a word; the other bytes must not count.
static __device__ u32 placed(u32 word, u32 from, u32 count) {
    u32 mask = (count == 4 ? ~0u : (1u << 8 * count) - 1) << 8 * from;
    return word << 8 * from & mask | 0x5b5b5b5bu & ~mask;
}

#define KIND(name, per, elements, text)                                                                                            \
    struct name {                                                                                                                  \
        static const u32 scales = per; /* of a row in a step */                                                                    \
        template <int byteA, int laneA, int byteB, int laneB> static __device__ void multiply(float *c, const u32 *a, const u32 *b, u32 sa, u32 sb) { \
            asm volatile("mma.sync.aligned." elements ".row.col.kind::" text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, "         \
                         "{%10}, {%11,%12}, {%13}, {%14,%15};"                                                                     \
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                          \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(sa), "n"((u16)byteA), "n"((u16)laneA), \
                           "r"(sb), "n"((u16)byteB), "n"((u16)laneB));                                                             \
        }                                                                                                                          \
    };
KIND(E4M3, 1, "m16n8k32", "mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0")
KIND(E5M2E2M1, 1, "m16n8k32", "mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m1.f32.ue8m0")
KIND(E2M3E3M2, 1, "m16n8k32", "mxf8f6f4.block_scale.scale_vec::1X.f32.e2m3.e3m2.f32.ue8m0")
KIND(Four, 2, "m16n8k64", "mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
KIND(FourOfSixteen, 4, "m16n8k64", "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")

// A step with the scales in some bytes of some lanes. Lane 4g+t of a warp has row or column g: of the rows' scales a pair of t counts, the first for row
// g and the second for row g+8, of the columns' one.
template <class K, int byteA, int laneA, int byteB, int laneB> static __device__ void step(float *c, const u32 *a, const u32 *b, const unsigned char *sa, const unsigned char *sb, u32 k) {
    u32 g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, fa[4], fb[2], forA = 0, forB = 0;
    for (u32 r = 0; r < 4; r++) fa[r] = a[(g + 8 * (r % 2)) * 32 + k * 8 + r / 2 * 4 + t];
    for (u32 r = 0; r < 2; r++) fb[r] = b[g * 32 + k * 8 + r * 4 + t];
    u32 row = g + 8 * (t % 2);
    for (u32 i = 0; i < K::scales; i++) {
        forA |= sa[(row * 4 + k) * K::scales + i] << 8 * i;
        forB |= sb[(g * 4 + k) * K::scales + i] << 8 * i;
    }
    forA = t / 2 == laneA ? placed(forA, byteA, K::scales) : 0x6c6c6c6c;
    forB = t == laneB ? placed(forB, byteB, K::scales) : 0x6c6c6c6c;
    K::template multiply<byteA, laneA, byteB, laneB>(c, fa, fb, forA, forB);
}

template <class K> static __device__ void multiplied(const u32 *a, const u32 *b, const unsigned char *sa, const unsigned char *sb, float *c) {
    const int other = K::scales == 1; // a byte of its own may be any, a pair the first or the last
    a += blockIdx.x * 16 * 32, b += blockIdx.x * 8 * 32, c += blockIdx.x * 128;
    sa += blockIdx.x * 64 * K::scales, sb += blockIdx.x * 32 * K::scales;
    float sum[4] = {};
    step<K, 0, 0, 0, 0>(sum, a, b, sa, sb, 0);
    step<K, other, 1, K::scales == 4 ? 0 : 2, 1>(sum, a, b, sa, sb, 1);
    step<K, K::scales == 4 ? 0 : 2, 0, 3 * other, 2>(sum, a, b, sa, sb, 2);
    step<K, 3 * other, 1, other, 3>(sum, a, b, sa, sb, 3);
    for (u32 i = 0; i < 4; i++) c[(threadIdx.x / 4 + 8 * (i / 2)) * 8 + threadIdx.x % 4 * 2 + i % 2] = sum[i];
}

#define PRODUCT(name, kind)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(32) name(const u32 *a, const u32 *b, const unsigned char *sa, const unsigned char *sb, float *c) { multiplied<kind>(a, b, sa, sb, c); }
PRODUCT(e4m3_product, E4M3)
PRODUCT(mixed_product, E5M2E2M1)
PRODUCT(six_product, E2M3E3M2)
PRODUCT(four_product, Four)
PRODUCT(sixteen_product, FourOfSixteen)

// Elements of 4 and 6 bits as halves.
extern "C" __global__ void unpacked(const u32 *codes, u32 *out) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, v = codes[i], r[5];
    u16 low = (u16)v, high = (u16)(v >> 16);
    asm("{ .reg .b8 x, y; mov.b16 {x, y}, %2; cvt.rn.f16x2.e2m1x2 %0, x; cvt.rn.relu.f16x2.e2m1x2 %1, y; }" : "=r"(r[0]), "=r"(r[1]) : "h"(low));
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(r[2]) : "h"(low));
    asm("cvt.rn.relu.f16x2.e3m2x2 %0, %1;" : "=r"(r[3]) : "h"(low));
    asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(r[4]) : "h"(high));
    for (u32 k = 0; k < 5; k++) out[i * 5 + k] = r[k];
}
