// Kernels with one error each, and after them kernels that look as if they had one and have none.
// All run in one dimension; out has as many elements as there are threads unless the kernel says otherwise.

extern "C" __global__ void past_the_end(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = i;
    }
}

extern "C" __global__ void shared_past_the_end(int *out, int shift) {
    __shared__ int s[64];
    s[threadIdx.x + shift] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void misaligned(char *bytes, float *out) {
    out[threadIdx.x] = *(float *)(bytes + 4 * threadIdx.x + (threadIdx.x == 7));
}

extern "C" __global__ void accumulate_unwritten(int *sums) {
    sums[threadIdx.x] += threadIdx.x;
}

extern "C" __global__ void unwritten_shared(int *out) {
    __shared__ int s[64];
    if (threadIdx.x != 5) {
        s[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}

extern "C" __global__ void unwritten_local(int *out, int n) {
    int table[32];
    for (int i = 0; i < n; i++) {
        table[(i * 7) & 31] = i;
    }
    out[threadIdx.x] = table[threadIdx.x & 31];
}

extern "C" __global__ void unwritten_heap(int *out) {
    int *p = (int *)malloc(8);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0] + p[1];
    free(p);
}

extern "C" __global__ void missing_barrier(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[127 - threadIdx.x];
}

extern "C" __global__ void overwritten_early(int *out) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[127 - threadIdx.x];
    s[threadIdx.x] = 2 * threadIdx.x;
}

extern "C" __global__ void two_writers(int *out) {
    __shared__ int last;
    last = threadIdx.x / 32;
    __syncthreads();
    out[threadIdx.x] = last;
}

extern "C" __global__ void lanes_of_one_store(int *out) {
    __shared__ int last;
    last = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = last;
}

extern "C" __global__ void parted_lanes(int *out, int n) {
    __shared__ volatile int s[32];
    s[threadIdx.x] = -1;
    __syncwarp();
    if (threadIdx.x < 16) {
        for (int i = 0; i < n; i++) {
            s[threadIdx.x] = i;
        }
    } else {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum = sum * 3 + s[threadIdx.x - 16];
        }
        out[threadIdx.x] = sum;
    }
}

extern "C" __global__ void divergent_barrier(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 2) {
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    } else {
        out[threadIdx.x] = -1;
    }
}

extern "C" __global__ void different_barriers(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        s[threadIdx.x] += out[threadIdx.x];
        __syncthreads();
    } else {
        s[threadIdx.x] -= out[threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void mask_without_self(int *out, unsigned mask) {
    int i = threadIdx.x;
    while (out[i] > 0) {
        if (out[i] & 2) {
            out[i]--;
            continue;
        }
        __syncwarp(mask);
        out[i] = 0;
    }
}

extern "C" __global__ void barrier_for_more(int *out) {
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}

// No errors from here on.

extern "C" __global__ void tree(const int *in, int *out) {
    __shared__ int s[256];
    s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = s[0];
    }
}

extern "C" __global__ void warp_exchange(int *out) {
    __shared__ int s[32];
    if (threadIdx.x < 16) {
        s[threadIdx.x] = threadIdx.x;
    }
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x & 15];
}

extern "C" __global__ void fenced_flag(int *out) {
    __shared__ int value[32];
    __shared__ int flag;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        value[threadIdx.x] = threadIdx.x;
        __syncwarp();
        if (threadIdx.x == 0) {
            __threadfence_block();
            atomicExch(&flag, 1);
        }
    } else {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence_block();
        out[threadIdx.x] = value[threadIdx.x - 32];
    }
}

extern "C" __global__ void producer_consumer(int *out) {
    __shared__ int value[32];
    if (threadIdx.x < 32) {
        value[threadIdx.x] = 3 * threadIdx.x;
        __threadfence_block();
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x] = value[threadIdx.x - 32];
    }
}

extern "C" __global__ void bytes_of_words(unsigned char *out) {
    __shared__ unsigned char s[128];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] += s[threadIdx.x ^ 3];
}

extern "C" __global__ void same_value(int *out) {
    __shared__ int any;
    any = 0;
    __syncthreads();
    if (out[threadIdx.x] >= 0) {
        any = 1;
    }
    __syncthreads();
    out[threadIdx.x] = any;
}

extern "C" __global__ void early_exit(int *out, int n) {
    __shared__ int s[64];
    if (threadIdx.x >= n) {
        return;
    }
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}

// Copies without registers (sm_80 and later): the first two have an error each.

#if __CUDA_ARCH__ >= 800
__device__ static void copy_word(int *to, const int *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

extern "C" __global__ void copy_not_awaited(const int *in, int *out) {
    __shared__ int s[64];
    copy_word(&s[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void copy_not_synced(const int *in, int *out) {
    __shared__ int s[64];
    copy_word(&s[threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    out[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void copy_in_stages(const int *in, int *out) {
    __shared__ int s[2][64];
    copy_word(&s[0][threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    copy_word(&s[1][threadIdx.x], &in[threadIdx.x]);
    asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
    int sum = s[0][threadIdx.x];
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = sum + s[1][63 - threadIdx.x];
}
#endif

// A sum by the lanes that have something to add, in the width of the whole warp.
extern "C" __global__ void idle_lanes(int *out) {
    unsigned mask = __ballot_sync(~0u, threadIdx.x < 8);
    if (threadIdx.x < 8) {
        int sum = threadIdx.x + 1;
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(mask, sum, distance);
        }
        out[threadIdx.x] = sum;
    }
}

// The same in the width of those lanes.
extern "C" __global__ void few_lanes(int *out) {
    unsigned mask = __ballot_sync(~0u, threadIdx.x < 8);
    if (threadIdx.x < 8) {
        int sum = threadIdx.x + 1;
        for (int distance = 4; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(mask, sum, distance, 8);
        }
        out[threadIdx.x] = sum;
    }
}

// A barrier that each warp comes to by a way of its own, as its lanes are together or apart: the compiler puts it into a function for those
// that are apart.
extern "C" __global__ void barrier_apart(int *out) {
    if (threadIdx.x % 33 == 0) {
        for (volatile int *p = out + threadIdx.x; *p < threadIdx.x;) {
            *p += 1;
        }
    }
    __barrier_sync(0);
    out[threadIdx.x] = threadIdx.x;
}
