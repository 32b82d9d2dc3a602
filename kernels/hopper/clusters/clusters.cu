// Clusters of blocks in every way that they reach each other: histograms in the shared memory of four blocks (atomics on what mapa names), a
// ring of stores and of loads, arrivals at barriers of another block (mbarrier, st.async, red.async), bulk copies to another block and to
// several (multicast), and barriers of the cluster with arrival and wait apart.
using u32 = unsigned;
using u64 = unsigned long long;
struct __align__(64) TensorMap { unsigned char data[128]; };

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ u32 rank() {
    u32 r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static __device__ u32 blocks() {
    u32 n;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    return n;
}
static __device__ u32 at(u32 a, u32 r) {
    u32 m;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(m) : "r"(a), "r"(r));
    return m;
}
static __device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
static __device__ void wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
static __device__ void init(u64 *b, u32 n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(b)), "r"(n) : "memory"); }
static __device__ void expect(u64 *b, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(b)), "r"(bytes) : "memory");
}
static __device__ void await(u64 *b, u32 parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(b)), "r"(parity)
                 : "memory");
}

// Bins are dealt out to the blocks of the cluster; every thread counts a word wherever its bin is.
extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const u32 *x, u32 *bins, int n) {
    __shared__ u32 mine[64];
    u32 me = rank();
    if (threadIdx.x < 64) mine[threadIdx.x] = 0;
    arrive();
    wait();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(at(address(mine + x[i] % 64), x[i] / 64 % 4)), "r"(1) : "memory");
    arrive();
    wait();
    if (threadIdx.x < 64) atomicAdd(bins + 64 * me + threadIdx.x, mine[threadIdx.x]);
}

// Each block gives its row to the next one of the cluster, in rounds: by plain stores, by loads, by st.async and by red.async.
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(const u32 *in, u32 *out) {
    __shared__ u32 row[2][128], sums[128];
    __shared__ u64 full, summed;
    u32 me = rank(), n = blocks(), next = (me + 1) % n, before = (me + n - 1) % n, t = threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    if (t == 0) {
        init(&full, 1);
        init(&summed, 1);
    }
    row[0][t] = in[block * 128 + t];
    sums[t] = t;
    arrive();
    wait();
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(at(address(&row[1][127 - t]), next)), "r"(row[0][t]) : "memory");
    u32 seen;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(at(address(&row[0][t ^ 1]), before)) : "memory");
    arrive();
    u32 *o = out + block * 384;
    o[t] = seen;
    wait();
    o[128 + t] = row[1][t];
    if (t == 0) {
        expect(&full, 128 * 4);
        expect(&summed, 128 * 4 * (n - 1));
    }
    arrive();
    wait();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(at(address(&row[0][t]), next)), "r"(seen * 3),
                 "r"(at(address(&full), next))
                 : "memory");
    for (u32 r = 0; r < n; r++)
        if (r != me)
            asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(at(address(&sums[t]), r)),
                         "r"(me + 1), "r"(at(address(&summed), r))
                         : "memory");
    await(&full, 0);
    await(&summed, 0);
    o[256 + t] = row[0][t] + sums[t];
    arrive();
    wait();
}

// A box of a tensor for all blocks of the cluster, one for each that the first one fetches, bytes that each passes on to the next one, and a
// reduction of what all of them have into global memory.
extern "C" __global__ void __cluster_dims__(4, 1, 1) spread(const __grid_constant__ TensorMap map, const u32 *bytes, u32 *out, float *sum) {
    __shared__ __align__(128) u32 box[256], own[256], passed[64];
    __shared__ __align__(16) float part[64];
    __shared__ u64 all, mine, handed;
    u32 me = rank(), n = blocks(), next = (me + 1) % n, t = threadIdx.x;
    if (t == 0) {
        init(&all, 1);
        init(&mine, 1);
        init(&handed, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    arrive();
    wait();
    if (t == 0) {
        expect(&all, 1024);
        expect(&mine, 1024);
        expect(&handed, 256);
    }
    arrive();
    wait();
    if (t == 0 && me == 1)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(address(box)),
                     "l"(&map), "r"(0), "r"((int)(blockIdx.x / n * 8)), "r"(address(&all)), "h"((unsigned short)15)
                     : "memory");
    if (t == 0 && me == 0) {
        for (u32 r = 0; r < n; r++)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(address(own)),
                         "l"(bytes + (blockIdx.x + r) * 256), "r"(1024), "r"(address(&mine)), "h"((unsigned short)(1 << r))
                         : "memory");
    }
    await(&all, 0);
    await(&mine, 0);
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(address(passed), next)),
                     "r"(address(own)), "r"(256), "r"(at(address(&handed), next))
                     : "memory");
    await(&handed, 0);
    if (t < 64) part[t] = (float)(passed[t] % 1024);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sum), "r"(address(part)), "r"(256) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    for (int i = t; i < 256; i += 64) out[blockIdx.x * 256 + i] = box[i] ^ own[i];
    arrive();
    wait();
}
