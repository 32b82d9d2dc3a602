// Pairs of blocks of a cluster: tensor memory that both allocate together, three times in turn, and products whose rows of A and columns of B are half
// in the one's shared memory and half in the other's (tcgen05, .cta_group::2). Then blocks and clusters that ask for work of the grid that has not begun
// (clusterlaunchcontrol), of which each piece is done once, whoever does it.
using u32 = unsigned;
using u64 = unsigned long long;

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// A matrix of rows of 128 bytes: 1024 bytes from eight rows to the next, swizzled by 128 bytes, bits 7 to 9 of an address onto bits 4 to 6.
static __device__ u64 descriptor(u32 a) { return (u64)(a >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61; }

static __device__ void stage(const uint4 *from, unsigned char *to, u32 rows) {
    for (u32 i = threadIdx.x; i < rows * 8; i += 128) {
        u32 a = address(to) + 16 * i;
        uint4 v = from[i];
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(a ^ (a >> 7 & 7) << 4), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    }
}

static __device__ void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }

static __device__ void wait(const u64 *barrier, u32 phase) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(barrier)), "r"(phase) : "memory");
}

#define EIGHT(v, i) "=r"(v[i]), "=r"(v[i + 1]), "=r"(v[i + 2]), "=r"(v[i + 3]), "=r"(v[i + 4]), "=r"(v[i + 5]), "=r"(v[i + 6]), "=r"(v[i + 7])

// C = A * B of 256 x 32 halves in four steps, by each pair; the sums lie in other columns each of three times, as the allocations grow.
extern "C" __global__ void __cluster_dims__(2) products(const uint4 *a, const uint4 *b, u32 *c, u32 *places) {
    __shared__ __align__(16) unsigned char room[144 * 128 + 1024];
    unsigned char *at = room + (-address(room) & 1023);
    __shared__ u32 place;
    __shared__ u64 barrier;
    u32 rank = blockIdx.x % 2, pair = blockIdx.x / 2, kept = 0;
    stage(a + rank * 128 * 8, at, 128);
    stage(b + rank * 16 * 8, at + 128 * 128, 16);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(address(&barrier)) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    u64 da = descriptor(address(at)), db = descriptor(address(at + 128 * 128));
    for (u32 turn = 0; turn < 3; turn++) {
        u32 columns = 32 << turn;
        if (threadIdx.x < 32) {
            asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(address(&place)), "r"(columns) : "memory");
            if (turn == 2)
                asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
        }
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        __syncthreads();
        meet();
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        u32 d = place + columns - 32;
        if (rank == 0 && threadIdx.x == 0) {
            u32 what = 1 << 4 | 32 / 8 << 17 | 256 / 16 << 24;
            for (int k = 0; k < 4; k++)
                asm volatile("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(da + 2 * k), "l"(db + 2 * k), "r"(what), "r"(k) : "memory");
            asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(address(&barrier)), "h"((unsigned short)3) : "memory");
        }
        wait(&barrier, turn & 1);
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        u32 *out = c + ((pair * 3 + turn) * 256 + rank * 128 + threadIdx.x) * 32;
        for (int i = 0; i < 32; i += 8) {
            u32 v[8];
            asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" : EIGHT(v, 0) : "r"(d + (threadIdx.x / 32 << 21) + i));
            asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
            for (int j = 0; j < 8; j++)
                out[i + j] = v[j];
        }
        if (threadIdx.x == 0)
            places[(pair * 3 + turn) * 2 + rank] = place;
        asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
        meet();
        if (turn == 1) // the last ones are behind these
            kept = place;
        else if (threadIdx.x < 32)
            asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(place), "r"(columns) : "memory");
        meet(); // the other block may write to place
    }
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(kept), "r"(64) : "memory");
}

// The answer to who asks for work: whether it was given, and its first block.
struct Answer {
    u32 given, x, y, z;
};

static __device__ Answer read(const uint4 *answer) {
    Answer a = {0, 0, 0, 0};
    asm volatile("{ .reg .pred p; .reg .b128 r; ld.shared.b128 r, [%4]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; selp.u32 %0, 1, 0, p;"
                 " @p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, r; }"
                 : "=r"(a.given), "+r"(a.x), "+r"(a.y), "+r"(a.z) : "r"(address(answer)) : "memory");
    return a;
}

static __device__ void open(u64 *barrier) {
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(address(barrier)) : "memory");
    __syncthreads();
}

static __device__ void expect(u64 *barrier) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], 16;" ::"r"(address(barrier)) : "memory");
}

// done[block] counts who did the work of a block.
extern "C" __global__ void blocks(u32 *done) {
    __shared__ __align__(16) uint4 answer;
    __shared__ u64 barrier;
    open(&barrier);
    u32 block = blockIdx.x + gridDim.x * blockIdx.y;
    for (u32 phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0) {
            expect(&barrier);
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(address(&answer)), "r"(address(&barrier)) : "memory");
            atomicAdd(done + block, 1);
        }
        wait(&barrier, phase);
        Answer a = read(&answer);
        asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
        __syncthreads();
        if (!a.given)
            return;
        block = a.x + gridDim.x * a.y;
    }
}

// The same by clusters of two: the first block asks for both.
extern "C" __global__ void __cluster_dims__(2) clusters(u32 *done) {
    __shared__ __align__(16) uint4 answer;
    __shared__ u64 barrier;
    u32 rank = blockIdx.x % 2;
    open(&barrier);
    meet();
    u32 block = blockIdx.x;
    for (u32 phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0) {
            expect(&barrier);
            atomicAdd(done + block, 1);
        }
        meet();
        if (threadIdx.x == 0 && rank == 0)
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [%0], [%1];" ::"r"(address(&answer)), "r"(address(&barrier)) : "memory");
        wait(&barrier, phase);
        Answer a = read(&answer);
        asm volatile("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
        meet();
        if (!a.given)
            return;
        block = a.x + rank;
    }
}
