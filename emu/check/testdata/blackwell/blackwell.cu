// Kernels with errors in what they leave to the tensor cores of a block, for sm_100. See memory.cu and race.cu for what the comments say.
using u32 = unsigned;
using u64 = unsigned long long;

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// A matrix of 128 or 16 rows of 16 halves without a swizzle: 128 bytes from a half of a row to the other, 256 from eight rows to the next.
static __device__ u64 descriptor(const void *p) { return (u64)((address(p) & 0x3ffff) >> 4) | 8ull << 16 | 16ull << 32 | 1ull << 46; }

#define ALLOCATE                                                                                                                   \
    __shared__ __align__(128) u32 a[1024], b[128];                                                                                 \
    __shared__ u64 barrier;                                                                                                        \
    __shared__ u32 place;                                                                                                          \
    if (threadIdx.x < 32)                                                                                                          \
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(address(&place)) : "memory");       \
    if (threadIdx.x == 0)                                                                                                          \
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barrier)) : "memory");                                \
    for (int i = threadIdx.x; i < 1024; i += 128) a[i] = 0x3c003c00;                                                               \
    b[threadIdx.x] = 0x3c003c00
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define BEFORE asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory")
#define AFTER asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory")
#define MULTIPLY                                                                                                                   \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"                    \
                 ::"r"(place), "l"(descriptor(a)), "l"(descriptor(b)), "r"(1 << 4 | 2 << 17 | 8 << 24) : "memory")
#define COMMIT asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"(__cvta_generic_to_shared(&barrier)) : "memory")
#define WAIT(phase)                                                                                                                \
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(&barrier)), "r"(phase) : "memory")
#define STORE(out)                                                                                                                 \
    float d;                                                                                                                       \
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;" : "=f"(d) : "r"(place + (threadIdx.x / 32 << 21)) : "memory"); \
    out[threadIdx.x] = d;                                                                                                          \
    BEFORE;                                                                                                                        \
    __syncthreads();                                                                                                               \
    if (threadIdx.x < 32)                                                                                                          \
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(place) : "memory")

//: 1 128 f32[128] sm=100-100
extern "C" __global__ void product_as_it_should_be(float *out) {
    ALLOCATE;
    PROXY;
    BEFORE;
    __syncthreads();
    AFTER;
    if (threadIdx.x == 0) {
        MULTIPLY;
        COMMIT;
    }
    WAIT(0);
    AFTER;
    a[threadIdx.x] = 1;
    STORE(out);
}

//: 1 128 f32[128] sm=100-100
extern "C" __global__ void product_without_proxy_fence(float *out) {
    ALLOCATE;
    BEFORE;
    __syncthreads();
    AFTER;
    if (threadIdx.x == 0) {
        MULTIPLY; //! missing proxy fence
        COMMIT;
    }
    WAIT(0);
    AFTER;
    STORE(out);
}

//: 1 128 f32[128] sm=100-100
extern "C" __global__ void matrix_changed_too_early(float *out) {
    ALLOCATE;
    PROXY;
    BEFORE;
    __syncthreads();
    AFTER;
    if (threadIdx.x == 0) {
        MULTIPLY;
        COMMIT;
    }
    __syncthreads();
    a[threadIdx.x] = 1; //! any race
    WAIT(0);
    AFTER;
    STORE(out);
}

//: 1 128 f32[128] sm=100-100
extern "C" __global__ void matrix_changed_behind_the_first_wait(float *out) {
    ALLOCATE;
    PROXY;
    BEFORE;
    __syncthreads();
    AFTER;
    if (threadIdx.x == 0) {
        MULTIPLY;
        COMMIT;
    }
    WAIT(0);
    AFTER;
    __syncthreads();
    if (threadIdx.x == 0) {
        MULTIPLY;
        COMMIT;
    }
    __syncthreads();
    a[threadIdx.x] = 1; //! any race
    WAIT(1);
    AFTER;
    STORE(out);
}

//: 1 128 f32[128] sm=100-100
extern "C" __global__ void columns_that_are_not_allocated(float *out) {
    ALLOCATE;
    PROXY;
    BEFORE;
    __syncthreads();
    AFTER;
    float d;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1]; tcgen05.wait::ld.sync.aligned;" : "=f"(d) : "r"(place + 64 + (threadIdx.x / 32 << 21)) : "memory"); //! out of bounds
    out[threadIdx.x] = d;
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(place) : "memory");
}
