// C = A B of half precision, 128 rows and 64 columns of C a block: a producer warp feeds one to five stages by the copy engine, two consumer warpgroups
// multiply them by wgmma, and wait for their products in each round, or in the next one. Built for sm_90a by NVRTC 12.9.
using u32 = unsigned;
using u64 = unsigned long long;
struct __align__(64) TensorMap { unsigned char data[128]; };
enum { DEPTH = 64, ROWS = 128, COLUMNS = 64, A = ROWS * DEPTH * 2, B = COLUMNS * DEPTH * 2 };

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void wait(u32 barrier, u32 parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(barrier), "r"(parity)
                 : "memory");
}
static __device__ void arrive(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
static __device__ void load(u32 to, const TensorMap *map, u32 barrier, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(map),
                 "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}
static __device__ u64 descriptor(u32 a) { return (u64)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62; }

#define EIGHT(i)                                                                                                                   \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
static __device__ void multiply(float (&d)[32], u64 a, u64 b, u32 accumulate) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
                 "%25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0; }"
                 : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
                 : "l"(a), "l"(b), "r"(accumulate));
}

template <int STAGES, int LATER>
static __device__ void product(const TensorMap &a, const TensorMap &b, float *c, int depth, int columns) {
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) u64 full[STAGES], empty[STAGES];
    u32 group = threadIdx.x / 128, base = address(tiles) + 1023 & ~1023u;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(full + s)) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address(empty + s)) : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    int rounds = depth / DEPTH;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int k = 0; k < rounds; k++) {
                u32 s = k % STAGES, f = address(full + s), to = base + s * (A + B);
                wait(address(empty + s), k / STAGES & 1 ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(f), "r"(A + B) : "memory");
                load(to, &a, f, k * DEPTH, blockIdx.y * ROWS);
                load(to + A, &b, f, k * DEPTH, blockIdx.x * COLUMNS);
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[32];
        for (int k = 0; k < rounds; k++) {
            u32 s = k % STAGES, from = base + s * (A + B);
            wait(address(full + s), k / STAGES & 1);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int i = 0; i < DEPTH / 16; i++)
                multiply(d, descriptor(from + (group - 1) * A / 2) + 2 * i, descriptor(from + A) + 2 * i, k + i);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LATER) : "memory");
            if (k >= LATER && threadIdx.x % 128 == 0)
                arrive(address(empty + (k - LATER) % STAGES));
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        u32 warp = threadIdx.x / 32 - 4, lane = threadIdx.x % 32, row = blockIdx.y * ROWS + 16 * warp + lane / 4, column = blockIdx.x * COLUMNS;
        for (u32 i = 0; i < 32; i++)
            c[(row + 8 * (i >> 1 & 1)) * columns + column + 8 * (i / 4) + 2 * (lane % 4) + (i & 1)] = d[i];
    }
}

extern "C" __global__ void __launch_bounds__(384)
one_stage(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int depth, int columns) {
    product<1, 0>(a, b, c, depth, columns);
}

extern "C" __global__ void __launch_bounds__(384)
two_stages(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int depth, int columns) {
    product<2, 0>(a, b, c, depth, columns);
}

extern "C" __global__ void __launch_bounds__(384)
five_stages(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int depth, int columns) {
    product<5, 0>(a, b, c, depth, columns);
}

extern "C" __global__ void __launch_bounds__(384)
six_stages_later(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float *c, int depth, int columns) {
    product<6, 1>(a, b, c, depth, columns);
}
