// Kernels with errors in what they leave to the tensor cores of a warpgroup and to the copy engine, for sm_90. `maps` makes tensor maps of
// 32 by 32 words, with boxes of 32 by 8, of the buffers. See memory.cu and race.cu for the rest.
using u32 = unsigned;
using u64 = unsigned long long;
struct __align__(64) TensorMap { unsigned char data[128]; };

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// A matrix of 64 or 8 rows of 16 halves without a swizzle: 128 bytes from a half of a row to the other, 256 from eight rows to the next.
static __device__ u64 descriptor(const void *p) { return (u64)((address(p) & 0x3ffff) >> 4) | 8ull << 16 | 16ull << 32; }

#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory")
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define MULTIPLY(d, a, b)                                                                                                \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                              \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"            \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                        \
                 : "l"(descriptor(a)), "l"(descriptor(b)))
#define STAGE(a, b)                                                                                                      \
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = 0x3c003c00;                                                      \
    if (threadIdx.x < 64) b[threadIdx.x] = 0x3c003c00
#define STORE(out, d)                                                                                                    \
    for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = d[i]

//: 1 128 f32[512] sm=90
extern "C" __global__ void product_as_it_should_be(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    MULTIPLY(d, a, b);
    COMMIT;
    WAIT;
    __syncthreads();
    a[threadIdx.x] = 1;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void product_without_proxy_fence(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    __syncthreads();
    MULTIPLY(d, a, b); //! missing proxy fence
    COMMIT;
    WAIT;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void fenced_before_the_store(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    PROXY;
    STAGE(a, b);
    __syncthreads();
    MULTIPLY(d, a, b); //! missing proxy fence
    COMMIT;
    WAIT;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void product_of_what_others_store(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b); //? read-write race
    PROXY;
    MULTIPLY(d, a, b); //? write-read race //? uninitialised read
    COMMIT;
    WAIT;
    STORE(out, d);
} //! any race

//: 1 128 f32[512] sm=90
extern "C" __global__ void operand_replaced_before_the_wait(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    MULTIPLY(d, a, b);
    COMMIT;
    __syncthreads();
    a[threadIdx.x] = 1; //! read-write race
    WAIT;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void operand_replaced_by_another_warp(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    MULTIPLY(d, a, b); //? any race //? missing proxy fence
    COMMIT;
    if (threadIdx.x == 96) b[0] = 1; //! any race 0/96
    WAIT;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void operand_not_written(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 128) a[i] = 0x3c003c00;
    if (threadIdx.x < 63) b[threadIdx.x] = 0x3c003c00;
    PROXY;
    __syncthreads();
    MULTIPLY(d, a, b); //! uninitialised read
    COMMIT;
    WAIT;
    STORE(out, d);
}

static __device__ void expect(u64 *b) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(address(b)) : "memory");
}
static __device__ void init(u64 *b) {
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(b)) : "memory");
        PROXY;
    }
    __syncthreads();
}
static __device__ void wait(u64 *b, u32 parity) {
    asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra wait; }" ::"r"(address(b)), "r"(parity) : "memory");
}
#define LOAD(to, map, y, b)                                                                                                                          \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(address(to)), \
                 "l"(&map), "r"(0), "r"(y), "r"(address(b))                                                                                          \
                 : "memory")
#define STORE_BOX(map, y, from)                                                                                                                      \
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(y), "r"(address(from))  \
                 : "memory");                                                                                                                        \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");                                                                                        \
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

//: 1 64 f32[32,32]:iota(0,1) f32[32,32] maps sm=90
extern "C" __global__ void copies_as_they_should_be(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to) {
    __shared__ __align__(128) float in[2][256], out[256];
    __shared__ u64 full[2];
    init(&full[0]);
    init(&full[1]);
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == 0) {
            expect(&full[k & 1]);
            LOAD(in[k & 1], from, 8 * k, &full[k & 1]);
        }
        wait(&full[k & 1], k >> 1 & 1);
        for (int i = threadIdx.x; i < 256; i += 64) out[i] = in[k & 1][255 - i];
        PROXY;
        __syncthreads();
        if (threadIdx.x == 0) { STORE_BOX(to, 8 * k, out); }
        __syncthreads();
    }
}

//: 1 64 f32[32,32]:iota(0,1) f32[64] maps=1 sm=90
extern "C" __global__ void copy_not_waited_for(const __grid_constant__ TensorMap from, float *out) {
    __shared__ __align__(128) float in[256];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) {
        expect(&full);
        LOAD(in, from, 0, &full);
    }
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x]; //! copy not waited for 0/0
}

//: 1 64 f32[32,32]:iota(0,1) f32[64] maps=1 sm=90
extern "C" __global__ void waits_for_the_phase_before(const __grid_constant__ TensorMap from, float *out) {
    __shared__ __align__(128) float in[256];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) {
        expect(&full);
        LOAD(in, from, 0, &full); //? read-write race
    }
    wait(&full, 1); //! livelock
    out[threadIdx.x] = in[threadIdx.x]; //! uninitialised read
}

//: 1 64 f32[32,32]:iota(0,1) f32[64] maps=1 sm=90
extern "C" __global__ void stage_used_again_too_early(const __grid_constant__ TensorMap from, float *out) {
    __shared__ __align__(128) float in[256];
    __shared__ u64 full[2];
    float sum = 0;
    init(&full[0]);
    init(&full[1]);
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x == 0) {
            expect(&full[k]);
            LOAD(in, from, 8 * k, &full[k]); //? any race
        }
        wait(&full[k], 0);
        sum += in[255 - threadIdx.x]; //? any race
    }
    out[threadIdx.x] = sum;
} //! any race

//: 1 64 f32[32,32] maps sm=90
extern "C" __global__ void box_without_proxy_fence(const __grid_constant__ TensorMap to) {
    __shared__ __align__(128) float out[256];
    for (int i = threadIdx.x; i < 256; i += 64) out[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE_BOX(to, 0, out); //! missing proxy fence 0/0
    }
}

//: 1 64 f32[32,32] maps sm=90
extern "C" __global__ void box_not_synced(const __grid_constant__ TensorMap to) {
    __shared__ __align__(128) float out[256];
    for (int i = threadIdx.x; i < 256; i += 64) out[i] = i; //? read-write race
    PROXY;
    if (threadIdx.x == 0) {
        STORE_BOX(to, 0, out); //? write-read race 0/0 //? uninitialised read
    }
} //! any race

static __device__ u32 peer(const void *p, u32 rank) {
    u32 a;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(address(p)), "r"(rank));
    return a;
}
static __device__ u32 rank() {
    u32 r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static __device__ void store_to(u32 a, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory"); }
static __device__ float load_from(u32 a) {
    float v;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory");
    return v;
}
#define CLUSTER_SYNC asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory")

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) cluster_as_it_should_be(float *out) {
    __shared__ float row[64];
    CLUSTER_SYNC;
    store_to(peer(row + threadIdx.x, rank() ^ 1), threadIdx.x);
    CLUSTER_SYNC;
    float v = load_from(peer(row + 63 - threadIdx.x, rank() ^ 1));
    out[blockIdx.x * 64 + threadIdx.x] = v + row[63 - threadIdx.x];
    CLUSTER_SYNC;
}

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) no_barrier_behind_a_remote_store(float *out) {
    __shared__ float row[64];
    CLUSTER_SYNC;
    store_to(peer(row + threadIdx.x, rank() ^ 1), threadIdx.x); //? any race
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x]; //? any race //? uninitialised read
    CLUSTER_SYNC;
} //! any race

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) remote_word_not_written(float *out) {
    __shared__ float row[64];
    if (rank() == 0) row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, rank() ^ 1)); //! uninitialised read 0/0
    CLUSTER_SYNC;
}

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) block_leaves_first(float *out) {
    __shared__ float row[64];
    row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    if (rank() == 0) return;
    for (int i = 0; i < 1000; i++) __nanosleep(100);
    out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, 0)); //! access to a block that has ended
}

#define EXPECT(b, n) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(b)), "r"(n) : "memory")
#define BULK_LOAD(to, from, n, b)                                                                                                                   \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)), "l"(from), "r"(n), \
                 "r"(address(b))                                                                                                                    \
                 : "memory")
#define BULK_STORE(to, from, n)                                                                                                    \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(address(from)), "r"(n) : "memory");  \
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");                                                                      \
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

//: 1 64 f32[64]:iota(0,1) f32[64] sm=90
extern "C" __global__ void bulk_as_it_should_be(const float *from, float *to) {
    __shared__ __align__(16) float in[64], out[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) {
        EXPECT(&full, 256);
        BULK_LOAD(in, from, 256, &full);
    }
    wait(&full, 0);
    out[threadIdx.x] = in[63 - threadIdx.x];
    PROXY;
    __syncthreads();
    if (threadIdx.x == 0) { BULK_STORE(to, out, 256); }
}

//: 1 64 f32[64]:iota(0,1) f32[64] sm=90
extern "C" __global__ void bulk_not_waited_for(const float *from, float *to) {
    __shared__ __align__(16) float in[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) {
        EXPECT(&full, 256);
        BULK_LOAD(in, from, 256, &full);
    }
    __syncthreads();
    to[threadIdx.x] = in[threadIdx.x]; //! copy not waited for 0/0
}

//: 1 64 f32[64]:iota(0,1) f32[64] sm=90
extern "C" __global__ void too_many_bytes_expected(const float *from, float *to) {
    __shared__ __align__(16) float in[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) {
        EXPECT(&full, 272);
        BULK_LOAD(in, from, 256, &full);
    }
    wait(&full, 0); //! livelock
    to[threadIdx.x] = in[threadIdx.x];
}

//: 1 64 f32[64] sm=90
extern "C" __global__ void bulk_without_proxy_fence(float *to) {
    __shared__ __align__(16) float out[64];
    out[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        BULK_STORE(to, out, 256); //! missing proxy fence 0/0
    }
}

//: 2 64 f32[128] sm=90
extern "C" __global__ void __cluster_dims__(2) remote_store_not_waited_for(float *out) {
    __shared__ float row[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) { EXPECT(&full, 256); }
    CLUSTER_SYNC;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(peer(row + threadIdx.x, rank() ^ 1)), "r"(threadIdx.x),
                 "r"(peer(&full, rank() ^ 1))
                 : "memory");
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x]; //! copy not waited for
    wait(&full, 0);
    CLUSTER_SYNC;
}

#define CLUSTER_ARRIVE asm volatile("barrier.cluster.arrive.aligned;" ::: "memory")
#define CLUSTER_WAIT asm volatile("barrier.cluster.wait.aligned;" ::: "memory")

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) stores_before_the_other_has_begun(float *out) {
    __shared__ float row[64];
    store_to(peer(row + threadIdx.x, rank() ^ 1), threadIdx.x); //! access to a block that may not have begun 0/0
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
}

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) barrier_of_the_block_at_the_beginning(float *out) {
    __shared__ float row[64];
    row[threadIdx.x] = 0;
    __syncthreads();
    asm volatile("red.shared::cluster.add.u32 [%0], 1;" ::"r"(peer(row, rank() ^ 1)) : "memory"); //! access to a block that may not have begun //? any race //? uninitialised read
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
} //? any race

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) arrives_and_does_not_wait_yet(float *out) {
    __shared__ float row[64];
    CLUSTER_ARRIVE;
    store_to(peer(row + threadIdx.x, rank() ^ 1), threadIdx.x); //! access to a block that may not have begun 0/0
    CLUSTER_WAIT;
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
}

//: 4 64 u32[2]:zero f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) flag_tells_that_it_has_begun(u32 *begun, float *out) {
    __shared__ float row[64];
    if (threadIdx.x == 0 && rank() == 1) {
        __threadfence();
        atomicExch(begun + blockIdx.x / 2, 1);
    }
    if (rank() == 0) {
        if (threadIdx.x == 0) {
            while (atomicAdd(begun + blockIdx.x / 2, 0) == 0) {}
            __threadfence();
        }
        __syncthreads();
        store_to(peer(row + threadIdx.x, 1), threadIdx.x);
    } else {
        row[threadIdx.x] = 0; //? any race
    }
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = rank();
} //? any race

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) no_barrier_at_the_end(float *out) {
    __shared__ float row[64];
    row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, rank() ^ 1)); //! access to a block that may have ended //? access to a block that has ended
}

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) arrives_at_the_end_and_does_not_wait(float *out) {
    __shared__ float row[64];
    row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    if (rank() == 1) out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, 0)); //! access to a block that may have ended 1/0 //? access to a block that has ended
    CLUSTER_ARRIVE;
    if (rank() == 1) CLUSTER_WAIT;
    else if (threadIdx.x < 64) __nanosleep(100000);
}

// The other block waits for an mbarrier that the arrival behind the access completes: no barrier of the cluster is needed.
//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) leaves_when_it_is_told(float *out) {
    __shared__ float row[64];
    __shared__ u64 read;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(address(&read)) : "memory");
    row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, rank() ^ 1));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&read, rank() ^ 1)) : "memory");
    wait(&read, 0);
}

//: 4 64 f32[256] sm=90
extern "C" __global__ void __cluster_dims__(2) leaves_although_it_would_be_told(float *out) {
    __shared__ float row[64];
    __shared__ u64 read;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(address(&read)) : "memory");
    row[threadIdx.x] = threadIdx.x;
    CLUSTER_SYNC;
    out[blockIdx.x * 64 + threadIdx.x] = load_from(peer(row + threadIdx.x, rank() ^ 1)); //? access to a block that has ended
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&read, rank() ^ 1)) : "memory"); //! access to a block that may have ended //? access to a block that has ended
}

//: 2 64 f32[128] sm=90
extern "C" __global__ void __cluster_dims__(2) leaves_before_what_is_sent_is_there(float *out) {
    __shared__ float row[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) { EXPECT(&full, 256); }
    CLUSTER_SYNC;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(peer(row + threadIdx.x, rank() ^ 1)), "r"(threadIdx.x),
                 "r"(peer(&full, rank() ^ 1)) //! access to a block that may have ended 0/0
                 : "memory");
    CLUSTER_SYNC;
}

//: 2 64 f32[128] sm=90
extern "C" __global__ void __cluster_dims__(2) leaves_when_what_is_sent_is_there(float *out) {
    __shared__ float row[64];
    __shared__ u64 full;
    init(&full);
    if (threadIdx.x == 0) { EXPECT(&full, 256); }
    CLUSTER_SYNC;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(peer(row + threadIdx.x, rank() ^ 1)), "r"(threadIdx.x),
                 "r"(peer(&full, rank() ^ 1))
                 : "memory");
    wait(&full, 0);
    out[blockIdx.x * 64 + threadIdx.x] = row[threadIdx.x];
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void product_of_three_warps(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    if (threadIdx.x < 96) {
        MULTIPLY(d, a, b); //! wgmma by a part of a warpgroup
        COMMIT;
        WAIT;
    }
    STORE(out, d);
}

//: 1 64 f32[512] sm=90
extern "C" __global__ void product_of_half_a_warpgroup(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 64) a[i] = 0x3c003c00;
    b[threadIdx.x] = 0x3c003c00;
    PROXY;
    __syncthreads();
    MULTIPLY(d, a, b); //! wgmma by a part of a warpgroup
    COMMIT;
    WAIT;
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void product_of_some_lanes(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    if (threadIdx.x % 32 < 16) {
        MULTIPLY(d, a, b); //! wgmma by a part of a warpgroup
        COMMIT;
        WAIT;
    }
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void products_of_each_half(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    if (threadIdx.x < 64) {
        MULTIPLY(d, a, b); //? wgmma by a part of a warpgroup
        COMMIT;
    } else {
        MULTIPLY(d, a, a); //? wgmma by a part of a warpgroup
        COMMIT;
    }
    WAIT;
    STORE(out, d);
} //! wgmma by a part of a warpgroup

//: 1 128 f32[512] sm=90
extern "C" __global__ void one_warp_multiplies_once_more(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    for (int i = 0; i < 2 + (threadIdx.x >= 96); i++) {
        MULTIPLY(d, a, b); //! wgmma by a part of a warpgroup 0/96
        COMMIT;
        WAIT;
    }
    STORE(out, d);
}

//: 1 128 f32[512] sm=90
extern "C" __global__ void one_warp_has_left(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    if (threadIdx.x >= 96) return;
    MULTIPLY(d, a, b); //! wgmma by a part of a warpgroup
    COMMIT;
    WAIT;
    STORE(out, d);
}

// Warpgroups may differ, and the warp beside them executes nothing of it.
//: 1 288 f32[1024] sm=90
extern "C" __global__ void warpgroups_with_roles(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    STAGE(a, b);
    PROXY;
    __syncthreads();
    if (threadIdx.x >= 256) return;
    if (threadIdx.x < 128) {
        for (int i = 0; i < 5; i++) {
            MULTIPLY(d, a, b);
            COMMIT;
            WAIT;
        }
    } else {
        MULTIPLY(d, a, a);
        COMMIT;
        WAIT;
    }
    STORE(out, d);
}

// Five warps a block: where a warpgroup begins does not depend on the blocks before it in the cluster.
//: 2 160 f32[1280] sm=90
extern "C" __global__ void __cluster_dims__(2) products_in_a_cluster(float *out) {
    __shared__ __align__(128) u32 a[512], b[64];
    float d[4] = {};
    for (int i = threadIdx.x; i < 512; i += 160) a[i] = 0x3c003c00;
    if (threadIdx.x < 64) b[threadIdx.x] = 0x3c003c00;
    PROXY;
    __syncthreads();
    if (threadIdx.x >= 128) return;
    MULTIPLY(d, a, b);
    COMMIT;
    WAIT;
    asm volatile("bar.sync 1, 128;" ::: "memory");
    a[threadIdx.x] = 1;
    STORE(out, d);
}
