// Kernels with errors of the kinds that racecheck of compute-sanitizer documents, and races in global memory. A line with //?
// may be reported too: which of two accesses comes second depends on the order in which warps run. See memory.cu for the rest.

//: 1 128 i32[128]
extern "C" __global__ void no_barrier(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x; //? read-write race
    out[threadIdx.x] = s[127 - threadIdx.x]; //! write-read race 0/64 //? uninitialised read
}

//: 1 128 i32[128]
extern "C" __global__ void overwritten_early(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[127 - threadIdx.x]; //! write-read race 0/0
    s[threadIdx.x] = 2 * threadIdx.x; //! read-write race 0/0
}

//: 1 64 i32[64]
extern "C" __global__ void two_writers(int *out) {
    __shared__ int last;
    last = threadIdx.x / 32; //! write-write race 0/32
    __syncthreads();
    out[threadIdx.x] = last;
}

//: 1 32 i32[32]
extern "C" __global__ void lanes_of_one_store(int *out) {
    __shared__ int last;
    last = threadIdx.x; //! write-write race 0/1
    __syncthreads();
    out[threadIdx.x] = last;
}

//: 1 32 i32[32] i32:50
extern "C" __global__ void parted_lanes(int *out, int n) {
    __shared__ volatile int s[32];
    s[threadIdx.x] = -1;
    __syncwarp();
    if (threadIdx.x < 16) {
        for (int i = 0; i < n; i++) {
            s[threadIdx.x] = i; //? read-write race
        }
    } else {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 3 + s[threadIdx.x - 16]; //? write-read race
        }
        out[threadIdx.x] = sum;
    }
} //! any race

//: 1 64 i32[64]
extern "C" __global__ void plain_and_atomic(int *out) {
    __shared__ int count;
    if (threadIdx.x == 0) {
        count = 0; //? read-write race
    }
    atomicAdd(&count, 1); //! write-write race //? missing __syncwarp
    __syncthreads();
    out[threadIdx.x] = count;
}

//: 1 128 i32[1]
extern "C" __global__ void tree_without_barrier(int *out) {
    __shared__ volatile int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + half]; //! read-write race 0/32 //! missing __syncwarp 0/0
        }
    }
    if (threadIdx.x == 0) {
        out[0] = s[0];
    }
}

//: 1 64 i32[256] i32[64] i32:4
extern "C" __global__ void one_barrier_a_turn(const int *in, int *out, int n) {
    __shared__ int s[64];
    int sum = 0;
    for (int i = 0; i < n; i++) {
        s[threadIdx.x] = in[64 * i + threadIdx.x] + i; //! read-write race 0/0
        __syncthreads();
        sum += s[63 - threadIdx.x]; //? write-read race
    }
    out[threadIdx.x] = sum;
}

#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void copy(int *to, const int *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define copy(to, from) (*(to) = *(from))
#define COMMIT
#define WAIT(n)
#endif

//: 1 64 i32[64] i32[64] sm=80
extern "C" __global__ void copy_not_awaited(const int *in, int *out) {
    __shared__ int s[64];
    copy(&s[threadIdx.x], &in[threadIdx.x]);
    COMMIT;
    out[threadIdx.x] = s[threadIdx.x]; //! copy not waited for 0/0
}

//: 1 64 i32[64] i32[64] sm=80
extern "C" __global__ void copy_not_synced(const int *in, int *out) {
    __shared__ int s[64];
    copy(&s[threadIdx.x], &in[threadIdx.x]);
    COMMIT;
    WAIT(0);
    out[threadIdx.x] = s[63 - threadIdx.x]; //! any race 0/32 //? uninitialised read
} //? any race

//: 1 64 i32[64] i32[64] sm=80
extern "C" __global__ void barrier_before_wait(const int *in, int *out) {
    __shared__ int s[64];
    copy(&s[threadIdx.x], &in[threadIdx.x]);
    COMMIT;
    __syncthreads();
    WAIT(0);
    out[threadIdx.x] = s[63 - threadIdx.x]; //! any race 0/32
} //? any race

//: 1 64 i32[128] i32[64] sm=80
extern "C" __global__ void waits_for_too_few(const int *in, int *out) {
    __shared__ int s[2][64];
    copy(&s[0][threadIdx.x], &in[threadIdx.x]);
    COMMIT;
    copy(&s[1][threadIdx.x], &in[64 + threadIdx.x]);
    COMMIT;
    WAIT(1);
    __syncthreads();
    out[threadIdx.x] = s[0][63 - threadIdx.x] + s[1][threadIdx.x]; //! copy not waited for 0/32
}

//: 1 64 i32[512] i32[64] i32:8 sm=80
extern "C" __global__ void stage_overwritten(const int *in, int *out, int n) {
    __shared__ int s[2][64];
    copy(&s[0][threadIdx.x], &in[threadIdx.x]);
    COMMIT;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) {
            copy(&s[(i + 1) & 1][threadIdx.x], &in[64 * (i + 1) + threadIdx.x]);
        }
        COMMIT;
        WAIT(1);
        __syncthreads();
        sum += s[i & 1][63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
} //! any race

//: 1 64 i32[512] i32[64] i32:8 sm=80
extern "C" __global__ void three_stages_without_barrier(const int *in, int *out, int n) {
    __shared__ int s[3][64];
    for (int k = 0; k < 2; k++) {
        copy(&s[k][threadIdx.x], &in[64 * k + threadIdx.x]);
        COMMIT;
    }
    int sum = 0;
    for (int i = 0; i < n; i++) {
        WAIT(1);
        sum += s[i % 3][63 - threadIdx.x]; //? uninitialised read
        __syncthreads();
        if (i + 2 < n) {
            copy(&s[(i + 2) % 3][threadIdx.x], &in[64 * (i + 2) + threadIdx.x]);
        }
        COMMIT;
    }
    out[threadIdx.x] = sum;
} //! any race

//: 4 32 i32[128]
extern "C" __global__ void neighbour_block(int *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = x[(i + 32) & 127] + 1; //! read-write race 1/0 //! write-read race 3/0
}

//: 4 32 i32[1]
extern "C" __global__ void blocks_write_one_word(int *x) {
    if (threadIdx.x == 2) {
        *x = blockIdx.x; //! write-write race 1/2
    }
}

//: 4 32 i32[1]
extern "C" __global__ void counter_without_atomic(int *count) {
    if (threadIdx.x == 0) {
        *count += 1; //! any race 1/0
    }
}

//: 1 64 i32[64] i32[64]
extern "C" __global__ void warps_without_barrier(int *work, int *out) {
    work[threadIdx.x] = threadIdx.x; //? read-write race
    out[threadIdx.x] = ((volatile int *)work)[63 - threadIdx.x]; //! write-read race 0/32
}

//: 4 32 i32[128] i32[4] i32[1] i32[1]
extern "C" __global__ void last_block_without_fence(const int *in, int *parts, int *count, int *out) {
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x] + blockIdx.x;
        if (atomicAdd(count, 1) == 3) {
            int sum = 0;
            for (int i = 0; i < 4; i++) {
                sum += ((volatile int *)parts)[i]; //! write-read race 3/0
            }
            *out = sum;
        }
    }
}

//: 4 32 i32[128] i32[4] i32[1] i32[1]
extern "C" __global__ void fence_of_the_block(const int *in, int *parts, int *count, int *out) {
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x] + blockIdx.x;
        __threadfence_block();
        if (atomicAdd(count, 1) == 3) {
            __threadfence_block();
            int sum = 0;
            for (int i = 0; i < 4; i++) {
                sum += ((volatile int *)parts)[i]; //! write-read race 3/0
            }
            *out = sum;
        }
    }
}

//: 4 32 i32[1]
extern "C" __global__ void atomics_of_the_block(int *count) {
    atomicAdd_block(count, 1); //! any race
}

//: 4 32 i32[1] i32[4]
extern "C" __global__ void plain_read_of_counter(int *count, int *out) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1); //? read-write race
        out[blockIdx.x] = *count; //? write-read race
    }
} //! any race

//: 2 32 i32[1] i32[1] i32[2]
extern "C" __global__ void flag_without_fence(volatile int *flag, int *data, int *out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            *data = 42;
            *flag = 1;
        } else {
            while (*flag == 0) {
            }
            out[1] = *(volatile int *)data; //! write-read race 1/0
        }
    }
}

//: 1 32 i32[32]
extern "C" __global__ void no_syncwarp(int *out) {
    __shared__ int s[32];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = threadIdx.x;
    }
    out[threadIdx.x] = s[threadIdx.x & 15]; //! missing __syncwarp 0/16
}

// No errors from here on.

//: 1 64 i32[512] i32[64] i32:8 sm=80
extern "C" __global__ void three_stages(const int *in, int *out, int n) {
    __shared__ int s[3][64];
    for (int k = 0; k < 2; k++) {
        copy(&s[k][threadIdx.x], &in[64 * k + threadIdx.x]);
        COMMIT;
    }
    int sum = 0;
    for (int i = 0; i < n; i++) {
        WAIT(1);
        __syncthreads();
        sum += s[i % 3][63 - threadIdx.x];
        if (i + 2 < n) {
            copy(&s[(i + 2) % 3][threadIdx.x], &in[64 * (i + 2) + threadIdx.x]);
        }
        COMMIT;
    }
    out[threadIdx.x] = sum;
}

//: 4 64 i32[256] i32[4] i32[1] i32[1]
extern "C" __global__ void last_block(const int *in, int *parts, int *count, int *out) {
    __shared__ int last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x] + blockIdx.x;
        __threadfence();
        last = atomicAdd(count, 1) == 3;
    }
    __syncthreads();
    if (last && threadIdx.x == 40) {
        __threadfence();
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += ((volatile int *)parts)[i];
        }
        *out = sum;
    }
}

//: 2 32 i32[1] i32[1] i32[2]
extern "C" __global__ void fenced_flag(volatile int *flag, int *data, int *out) {
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0) {
            *data = 42;
            __threadfence();
            *flag = 1;
        } else {
            while (*flag == 0) {
            }
            __threadfence();
            out[1] = *(volatile int *)data;
        }
    }
}

//: 4 32 i32[1] i32[1]
extern "C" __global__ void lock(int *taken, int *sum) {
    if (threadIdx.x == 0) {
        while (atomicCAS(taken, 0, 1)) {
        }
        __threadfence();
        *sum += blockIdx.x;
        __threadfence();
        atomicExch(taken, 0);
    }
}

//: 4 32 i32[1]
extern "C" __global__ void same_value(int *any) {
    *any = 1;
}

//: 1 32 i32[32]
extern "C" __global__ void syncwarp(int *out) {
    __shared__ int s[32];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = threadIdx.x;
    }
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x & 15];
    __syncwarp();
    s[threadIdx.x] = out[threadIdx.x] + 1;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
