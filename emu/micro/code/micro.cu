// Micro-benchmarks of a GPU's pipes, latencies and bandwidths. Clocks are read in the kernel where one warp or one block is
// measured; where the whole GPU is, the launch's cycles count. Results are stored, so that nothing is optimised away.

#define KERNEL extern "C" __global__ void

struct link {
    link* next;
};

// One block reads a word of each of n lines of 128 bytes, so that L2 holds them.
KERNEL touch(const unsigned* data, int n, unsigned* out) {
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data[(long long)i * 32];
    if (sum == 1) out[0] = sum;
}

// One thread follows a chain of pointers: first warm steps, then steps of 16 each that are timed.
KERNEL chase(link* p, int warm, int steps, long long* out) {
#pragma unroll 1
    for (int i = 0; i < warm; i++) p = p->next;
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int k = 0; k < 16; k++) p = p->next;
    }
    out[0] = clock64() - begin;
    out[1] = (long long)p;
}

// The same in shared memory: a chain of offsets.
KERNEL chase_shared(int steps, long long* out) {
    __shared__ unsigned offset[64];
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) offset[i] = (i * 5 + 1) % 64;
    __syncthreads();
    unsigned at = threadIdx.x;
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int k = 0; k < 16; k++) at = offset[at];
    }
    out[0] = clock64() - begin;
    out[1] = at;
}

// The same with a chain of addresses: nothing is computed between two loads.
KERNEL chase_shared_address(int steps, long long* out) {
    __shared__ unsigned next[64];
    unsigned base = (unsigned)__cvta_generic_to_shared(next);
    for (unsigned i = threadIdx.x; i < 64; i += blockDim.x) next[i] = base + (i * 5 + 1) % 64 * 4;
    __syncthreads();
    unsigned at = base;
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int k = 0; k < 16; k++) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
    }
    out[0] = clock64() - begin;
    out[1] = at;
}

// One thread adds to one word again and again, each time as much as it found there.
KERNEL chase_atomic(unsigned* word, int steps, long long* out) {
    unsigned v = 1;
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < steps; i++) {
#pragma unroll
        for (int k = 0; k < 4; k++) v = atomicAdd(word, v);
    }
    out[0] = clock64() - begin;
    out[1] = v;
}

// Streams, one element a thread. Occupancy is limited by dynamic shared memory.
#define STREAM(name, ...) \
    KERNEL name(double* a, const double* b, const double* c, const double* d, int n) { \
        int i = blockIdx.x * blockDim.x + threadIdx.x; \
        if (i >= n) return; \
        __VA_ARGS__ \
    }

STREAM(stream_init, a[i] = 1.5;)
STREAM(stream_read, if (b[i] == 0.25) a[i] = 1.5;)
STREAM(stream_scale, a[i] = b[i] * 1.5;)
STREAM(stream_triad, a[i] = b[i] + c[i] * d[i];)
STREAM(stream_3pt, if (i > 0 && i < n - 1) a[i] = b[i - 1] * 0.25 + b[i] * 0.5 + b[i + 1] * 0.25;)
STREAM(stream_5pt,
    if (i > 1 && i < n - 2) a[i] = (b[i - 2] + b[i + 2]) * 0.125 + (b[i - 1] + b[i + 1]) * 0.25 + b[i] * 0.5;)

// Every block, of 1024 threads, reads the same n elements again and again; n is a multiple of 4096.
#define CACHE(name, type) \
    KERNEL name(const type* data, int n, int rounds, type* out) { \
        type sum[4] = {}; \
        for (int r = 0; r < rounds; r++) { \
            const type* p = data + threadIdx.x; \
            _Pragma("unroll 2") for (int i = 0; i < n; i += 4096) { \
                _Pragma("unroll") for (int k = 0; k < 4; k++) sum[k] += p[i + k * 1024]; \
            } \
        } \
        if (sum[0] + sum[1] + sum[2] + sum[3] == (type)1.5) out[0] = sum[0]; \
    }

CACHE(cache_f64, double)
CACHE(cache_f32, float)

// Blocks of 1024 threads, each of which reads 64 doubles a thread, pairs of pieces of 8 KiB, of a buffer that so many blocks share out.
// Each block of the first wave begins somewhere within its part, by a hash of its number, so that blocks end one after the other and
// the places that they leave are given to others in no order, as when a launch is long. Each notes the clock at its end.
KERNEL cache_share(const double* data, int sharers, int wave, double* out, long long* ends) {
    double sum = 0;
    int first = blockIdx.x < wave ? blockIdx.x * 0x9E3779B1u >> 27 : 0;
    const double* p = data + blockIdx.x % sharers * 2048 + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 32; i++, p += sharers * 2048)
        if (i >= first) sum += p[0] * p[1024];
    sum *= 1.3;
    if (threadIdx.x > 1233 || sum == 23.12) out[threadIdx.x] += sum;
    if (threadIdx.x == 0) ends[blockIdx.x] = clock64();
}

// Chains of one operation, ilp independent ones side by side, length operations of each a round.
#define CHAINS(name, ilp, length, type, operation) \
    KERNEL name(int rounds, long long* cycles, type* out) { \
        type v[ilp], c = out[0]; \
        (void)c; \
        _Pragma("unroll") for (int k = 0; k < ilp; k++) v[k] = out[threadIdx.x + k]; \
        __syncthreads(); \
        long long begin = clock64(); \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++) { \
            _Pragma("unroll") for (int i = 0; i < length; i++) { \
                _Pragma("unroll") for (int k = 0; k < ilp; k++) { operation; } \
            } \
        } \
        __syncthreads(); \
        if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin; \
        _Pragma("unroll") for (int k = 0; k < ilp; k++) out[(blockIdx.x * blockDim.x + threadIdx.x) * ilp + k] = v[k]; \
    }

CHAINS(ffma_1, 1, 128, float, v[k] = v[k] * c + c)
CHAINS(ffma_2, 2, 128, float, v[k] = v[k] * c + c)
CHAINS(ffma_4, 4, 32, float, v[k] = v[k] * c + c)
CHAINS(ffma_8, 8, 64, float, v[k] = v[k] * c + c)
CHAINS(dfma_1, 1, 64, double, v[k] = v[k] * c + c)
CHAINS(dfma_4, 4, 32, double, v[k] = v[k] * c + c)
CHAINS(imad_1, 1, 64, unsigned, v[k] = v[k] * c + c)
CHAINS(imad_4, 4, 32, unsigned, v[k] = v[k] * c + c)
CHAINS(shf_1, 1, 64, unsigned, asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(v[k]) : "r"(c)))
CHAINS(shf_4, 4, 32, unsigned, asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(v[k]) : "r"(c)))
CHAINS(hfma2_1, 1, 64, unsigned, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(v[k]) : "r"(c)))
CHAINS(hfma2_4, 4, 32, unsigned, asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(v[k]) : "r"(c)))
CHAINS(mufu_1, 1, 64, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[k])))
CHAINS(mufu_4, 4, 32, float, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(v[k])))
CHAINS(convert_1, 1, 64, float, v[k] = (float)(int)v[k])
CHAINS(convert_4, 4, 32, float, v[k] = (float)(int)v[k])
CHAINS(popc_1, 1, 64, unsigned, v[k] = __popc(v[k]))
CHAINS(popc_4, 4, 32, unsigned, v[k] = __popc(v[k]))
CHAINS(shfl_1, 1, 64, unsigned, v[k] = __shfl_xor_sync(~0u, v[k], 1))
CHAINS(shfl_4, 4, 32, unsigned, v[k] = __shfl_xor_sync(~0u, v[k], 1))

// Independent loads from shared memory, lanes a stride of words apart.
KERNEL shared_stride(int stride, int rounds, long long* cycles, float* out) {
    __shared__ float data[4096];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) data[i] = i;
    __syncthreads();
    volatile float* p = data + threadIdx.x % 32 * stride % 4096;
    float sum[8] = {};
    long long begin = clock64();
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < 32; k++) sum[k % 8] += p[k % 2];
    }
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
#pragma unroll
    for (int k = 0; k < 8; k++) out[threadIdx.x * 8 + k] = sum[k];
}

// Independent loads of one, two or four words from shared memory, lanes a stride of words apart.
#define SHARED(name, ...) \
    KERNEL name(int stride, int rounds, long long* cycles, unsigned* out) { \
        __shared__ __align__(16) unsigned data[4096]; \
        for (int i = threadIdx.x; i < 4096; i += blockDim.x) data[i] = i; \
        __syncthreads(); \
        unsigned p = (unsigned)__cvta_generic_to_shared(data + threadIdx.x % 32 * stride), a = 0, b = 0, c = 0, d = 0, sum = 0; \
        long long begin = clock64(); \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++) { \
            _Pragma("unroll") for (int k = 0; k < 16; k++) { \
                __VA_ARGS__; \
                sum += a ^ b ^ c ^ d; \
            } \
        } \
        __syncthreads(); \
        if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin; \
        out[threadIdx.x] = sum; \
    }

SHARED(shared_32, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(a) : "r"(p)))
SHARED(shared_64, asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(p)))
SHARED(shared_128, asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p)))

// One load of one, two or four words a thread, neighbouring threads a stride of as many apart.
#define GLOBAL(name, bytes, ...) \
    KERNEL name(const unsigned char* data, int stride, unsigned* out) { \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = 0, b = 0, c = 0, d = 0; \
        const unsigned char* p = data + (long long)i * stride * bytes; \
        __VA_ARGS__; \
        if ((a ^ b ^ c ^ d) == 1) out[i] = a; \
    }

GLOBAL(global_32, 4, asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(p)))
GLOBAL(global_64, 8, asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p)))
GLOBAL(global_128, 16, asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p)))

// Loads that hit L1, neighbouring threads of 64 a stride of elements apart, and a multiply-add for every two of them: at a
// rate of two FP64 operations a clock one a load would take longer than the load. step is 0.
#define STRIDE(name, type) \
    KERNEL name(const type* data, int stride, int step, int rounds, type* out) { \
        const type* p = data + threadIdx.x % 64 * stride; \
        type sum = 0; \
        _Pragma("unroll 1") for (int r = 0; r < rounds; r++) { \
            _Pragma("unroll") for (int k = 0; k < 8; k += 2) sum += p[k * 4] * p[k * 4 + 4]; \
            p += step; \
        } \
        out[threadIdx.x] = sum; \
    }

STRIDE(stride_f32, float)
STRIDE(stride_f64, double)

// Atomic additions without use of the old value: to one word, to a word a warp, to a word a thread.
KERNEL atomic_add(unsigned* words, int per_warp, int per_thread, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned* p = words + i / 32 * per_warp + i % 32 * per_thread;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(r) : "memory");
}
