// Kernels with errors of the kinds that synccheck of compute-sanitizer documents. See memory.cu for the comments.

//: 1 64 i32[64]
extern "C" __global__ void divergent_barrier(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2) {
        __syncthreads(); //! divergent barrier 0/1 //? barrier without threads that exited
        s[threadIdx.x] += 3;
    }
    out[threadIdx.x] = s[threadIdx.x];
}

//: 1 64 i32[64] i32:40
extern "C" __global__ void early_exit(int *out, int n) {
    __shared__ int s[64];
    if (threadIdx.x >= n) {
        return;
    }
    s[threadIdx.x] = threadIdx.x;
    __syncthreads(); //! barrier without threads that exited 0/0
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

//: 1 128 i32[128]
extern "C" __global__ void barrier_of_a_part(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x;
        __syncthreads(); //! barrier without threads that exited 0/0
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}

//: 1 64 i32[64]
extern "C" __global__ void uneven_loop(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = 0;
    for (int i = 0; i < 2 + threadIdx.x / 32; i++) {
        __syncthreads(); //! barrier without threads that exited 0/32
        s[threadIdx.x] += i;
    }
    out[threadIdx.x] = s[threadIdx.x];
}

//: 1 64 i32[64]
extern "C" __global__ void different_barriers(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        s[threadIdx.x] += out[threadIdx.x];
        __syncthreads(); //! different barriers meet 0/0
    } else {
        s[threadIdx.x] -= out[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
}

//: 1 64 i32[64]
extern "C" __global__ void barrier_for_more(int *out) {
    asm volatile("bar.sync 1, 96;" ::: "memory"); //! barrier deadlock 0/0
    out[threadIdx.x] = 1;
}

//: 1 64 i32[64] i32:1 i32:48
extern "C" __global__ void count_of_half_warps(int *out, int id, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory"); //! invalid barrier 0/0
    out[threadIdx.x] = 1;
}

//: 1 64 i32[64] i32:17
extern "C" __global__ void barrier_seventeen(int *out, int id) {
    asm volatile("bar.sync %0;" ::"r"(id) : "memory"); //! invalid barrier 0/0
    out[threadIdx.x] = 1;
}

//: 1 128 i32[128]
extern "C" __global__ void counts_differ(int *out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); //! invalid barrier 0/32
    }
    out[threadIdx.x] = 1;
}

//: 1 64 i32[64]
extern "C" __global__ void wrong_name(int *out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory"); //! barrier deadlock 0/32
    }
    out[threadIdx.x] = 1;
}

//: 1 32 i32[32]:iota(1,1) u32:65280
extern "C" __global__ void mask_without_self(int *out, unsigned mask) {
    int i = threadIdx.x;
    while (out[i] > 0) {
        if (out[i] & 2) {
            out[i]--;
            continue;
        }
        __syncwarp(mask); //! mask without the lane itself //? lanes of the mask missing
        out[i] = 0;
    }
} //? barrier deadlock

//: 1 32 i32[32]
extern "C" __global__ void shuffle_mask_without_self(int *out) {
    int v = threadIdx.x;
    if (threadIdx.x < 20) {
        v = __shfl_xor_sync(0xffff, v, 1); //! mask without the lane itself 0/16
    }
    out[threadIdx.x] = v;
}

//: 1 32 i32[32]:iota(1,1) u32:4294967295
extern "C" __global__ void lanes_of_mask_missing(int *out, unsigned mask) {
    int i = threadIdx.x;
    while (out[i] > 0) {
        if (out[i] & 2) {
            out[i] = -out[i];
            continue;
        }
        out[i] = __ballot_sync(mask, out[i] & 1) - 100; //! barrier deadlock 0/0
    }
} //? lanes of the mask missing

//: 1 32 i32[32]:iota(1,1) u32:4294967295
extern "C" __global__ void syncwarp_of_missing(int *out, unsigned mask) {
    int i = threadIdx.x;
    while (out[i] > 0) {
        if (out[i] & 2) {
            out[i] = -out[i];
            continue;
        }
        __syncwarp(mask); //! barrier deadlock 0/0
        out[i] = 0;
    }
} //? lanes of the mask missing

//: 1 32 i32[32]:iota(1,1) u32:4294901760
extern "C" __global__ void masks_differ(int *out, unsigned mask) {
    int i = threadIdx.x;
    while (out[i] > 0) {
        if (out[i] & 2) {
            out[i]--;
            continue;
        }
        __syncwarp(i < 16 ? 0xffffffff : mask); //! masks differ //? lanes of the mask missing
        out[i] = 0;
    }
} //? barrier deadlock

//: 1 32 i32[32]:iota(5,1)
extern "C" __global__ void shuffle_from_missing(int *out) {
    int v = out[threadIdx.x];
    if (threadIdx.x < 24) {
        v = __shfl_sync(0xffffff, v, threadIdx.x + 4); //! shuffle from a missing lane 0/20
        out[threadIdx.x] = v;
    }
}

//: 1 32 i32[32] i32[1]
extern "C" __global__ void waits_for_nobody(int *out, volatile int *flag) {
    while (*flag == 0) { //! livelock 0/0
    }
    out[threadIdx.x] = 1;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void init(unsigned long long *bar, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(count) : "memory");
}
__device__ __forceinline__ void invalidate(unsigned long long *bar) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}
__device__ __forceinline__ unsigned long long arrive(unsigned long long *bar) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
    return state;
}
__device__ __forceinline__ bool arrived(unsigned long long *bar, unsigned long long state) {
    unsigned ok;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ok) : "r"((unsigned)__cvta_generic_to_shared(bar)), "l"(state) : "memory");
    return ok;
}
#endif
#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ void arrive_by(unsigned long long *bar, unsigned count) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], %1; }" ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(count) : "memory");
}
#endif

//: 1 64 i32[64] sm=80
extern "C" __global__ void mbarrier_not_initialised(int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ unsigned long long bar;
    arrive(&bar); //! mbarrier not initialised 0/0
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] sm=90
extern "C" __global__ void mbarrier_invalidated(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        init(&bar, 64);
    }
    __syncthreads();
    unsigned long long state = arrive(&bar);
    while (!arrived(&bar, state)) {
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        invalidate(&bar);
    }
    __syncthreads();
    arrive(&bar); //! mbarrier not initialised 0/0
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] sm=90
extern "C" __global__ void mbarrier_overflow(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        init(&bar, 8);
    }
    __syncthreads();
    if (threadIdx.x == 32) {
        arrive_by(&bar, 9); //! mbarrier count 0/32
    }
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] i32:0 sm=90
extern "C" __global__ void mbarrier_of_nobody(int *out, int n) {
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        init(&bar, n); //! mbarrier count 0/0
    }
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] sm=90
extern "C" __global__ void mbarrier_twice(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        init(&bar, 64);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        init(&bar, 64); //! mbarrier initialised twice 0/0
    }
    __syncthreads();
    arrive(&bar);
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] sm=90
extern "C" __global__ void mbarrier_not_synced(int *out) {
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        init(&bar, 64);
    }
    arrive(&bar); //! write-read race 0/32
    out[threadIdx.x] = 1;
#endif
}

//: 1 64 i32[64] sm=80
extern "C" __global__ void mbarrier_not_awaited(int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) {
        init(&bar, 64);
    }
    __syncthreads();
    s[threadIdx.x] = threadIdx.x; //? read-write race
    arrive(&bar);
    out[threadIdx.x] = s[63 - threadIdx.x]; //! write-read race 0/0 //? uninitialised read
#endif
}

// No errors from here on.

//: 1 64 i32[64] sm=80
extern "C" __global__ void mbarrier(int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) {
        init(&bar, 64);
    }
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    unsigned long long state = arrive(&bar);
    while (!arrived(&bar, state)) {
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        invalidate(&bar);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        init(&bar, 2);
    }
#endif
}

//: 1 128 i32[128]
extern "C" __global__ void barriers_of_parts(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + (int)threadIdx.x / 64) : "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 63];
}

//: 1 32 i32[32]
extern "C" __global__ void sum_of_sixteen(int *out) {
    if (threadIdx.x < 16) {
        int v = threadIdx.x;
        for (int d = 8; d > 0; d /= 2) {
            v += __shfl_down_sync(0xffff, v, d);
        }
        if (threadIdx.x == 0) {
            out[0] = v;
        }
    }
}

//: 1 48 i32[48]
extern "C" __global__ void sum_of_short_warp(int *out) {
    int v = 1;
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_xor_sync(threadIdx.x < 32 ? 0xffffffff : 0xffff, v, d & (threadIdx.x < 32 ? 31 : 15));
    }
    out[threadIdx.x] = v;
}
