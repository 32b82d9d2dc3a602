// Synchronisation that warnings are about, and what looks like it.
//
// Built with NVRTC 12.9: --gpu-architecture=sm_70, sm_80 and sm_90, -lineinfo.

// barrier-under-divergent-control
extern "C" __global__ void barrier_in_branch(float *o, const float *a) {
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] > 0) {
        __syncthreads();
        o[threadIdx.x] = s[255 - threadIdx.x];
    }
    o[threadIdx.x + 256] = s[threadIdx.x];
}

extern "C" __global__ void barrier_in_both(float *o, const float *a) {
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < 100) {
        __syncthreads();
        o[threadIdx.x] = s[255 - threadIdx.x];
    } else {
        o[threadIdx.x] = s[threadIdx.x];
        __syncthreads();
    }
}

extern "C" __global__ void barrier_in_rounds(float *o, const float *a, int n) {
    __shared__ float s[256];
    float sum = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 256) {
        s[threadIdx.x] = a[i];
        __syncthreads();
        sum += s[255 - threadIdx.x];
    }
    o[threadIdx.x] = sum;
}

// How many rounds a thread has gone is another number for each, though each counts alike.
extern "C" __global__ void barrier_after_rounds(float *o, const int *a) {
    __shared__ float s[256];
    int rounds = 0;
#pragma unroll 1
    while (a[256 * rounds + threadIdx.x] > 0) rounds++;
    s[threadIdx.x] = rounds;
    if (rounds > 4) {
        __syncthreads();
    }
    o[threadIdx.x] = s[255 - threadIdx.x];
}

// warpsync-before-barrier: Figure 2a of "SIMD Re-Convergence At Thread Frontiers".
extern "C" __global__ void barrier_exception(volatile int *o, const int *a) {
    __shared__ int s[256];
    int x = a[threadIdx.x];
    o[0] = x;
    if (x == 1) goto out;
    o[1] = x;
    if (x == 2) goto out;
    s[threadIdx.x] = x;
    __syncthreads();
    o[2] = s[255 - threadIdx.x];
    if (x == 3) goto out;
    o[3] = x;
out:
    o[4] = x;
}

// spin-loop
extern "C" __global__ void spin_lock(int *lock, volatile int *sum) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *sum = *sum + threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void spin_exchange(int *locks, volatile int *sums, const int *which) {
    int k = which[threadIdx.x];
    while (atomicExch(&locks[k], 1) == 1) {
        __nanosleep(20);
    }
    sums[k] = sums[k] + 1;
    __threadfence();
    atomicExch(&locks[k], 0);
}

extern "C" __global__ void spin_turn(volatile int *turn, volatile int *sum) {
    while (*turn != threadIdx.x) {
    }
    *sum = *sum + threadIdx.x;
    __threadfence();
    *turn = threadIdx.x + 1;
}

// No warning: all threads come to the barriers.
extern "C" __global__ void fine_guard(float *o, const float *a, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    __syncthreads();
    o[i] = s[threadIdx.x ^ 1];
}

extern "C" __global__ void fine_uniform(float *o, const float *a, const int *levels, int n) {
    __shared__ float s[256];
    __shared__ int again;
    s[threadIdx.x] = a[threadIdx.x];
    if (blockIdx.x % 3 == 1) {
        __syncthreads();
        o[threadIdx.x] = s[255 - threadIdx.x];
    }
#pragma unroll 1
    for (int i = 0; i < levels[blockIdx.x]; i++) {
        if (threadIdx.x < 32 && a[i] > 0) s[threadIdx.x] += a[i];
        __syncthreads();
    }
    do {
        if (threadIdx.x == 0) again = n > o[0];
        __syncthreads();
        o[threadIdx.x] += s[255 - threadIdx.x];
        __syncthreads();
    } while (again);
}

extern "C" __global__ void fine_reduction(float *o, const float *a) {
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) o[blockIdx.x] = s[0];
}

// No warning: warps that do different work wait at barriers for as many threads as come.
extern "C" __global__ void fine_named(float *o, const float *a) {
    __shared__ float s[256];
    if (threadIdx.x < 128) {
        s[threadIdx.x] = a[threadIdx.x];
        asm volatile("bar.sync 1, 128;" ::: "memory");
        o[threadIdx.x] = s[127 - threadIdx.x];
    } else {
        o[threadIdx.x] = 0;
    }
}

// No warning: who has the lock releases it in the loop.
extern "C" __global__ void fine_lock(int *lock, volatile int *sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *sum = *sum + threadIdx.x;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// No warning: one thread always gets on.
extern "C" __global__ void fine_retry(unsigned *o, const float *a) {
    unsigned old = *(volatile unsigned *)o, seen;
    do {
        seen = old;
        old = atomicCAS(o, seen, __float_as_uint(fmaxf(a[threadIdx.x], __uint_as_float(seen))));
    } while (old != seen);
}

extern "C" __global__ void fine_reread(volatile unsigned *o, const float *a) {
    unsigned old;
    do {
        old = *o;
    } while (atomicCAS((unsigned *)o, old, __float_as_uint(fmaxf(a[threadIdx.x], __uint_as_float(old)))) != old);
}

// No warning: all threads of a block read the same flag.
extern "C" __global__ void fine_flag(volatile int *flag, int *o) {
    while (*flag == 0) {
    }
    o[threadIdx.x] = 1;
}

// No warning: the queue gets shorter in every round.
extern "C" __global__ void fine_queue(int *next, volatile int *o, int n) {
    int taken = 0;
    while (atomicAdd(next, 1) < n) taken++;
    o[threadIdx.x] = taken;
}

// No warning: the first warp puts together what all of them have, twice, with a barrier of the block behind each time. Shuffles in a branch have a
// slow path that calls one helper from both places.
__device__ float most_of(float x) {
    for (int k = 16; k > 0; k /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, k));
    return x;
}

__device__ float sum_of(float x) {
    for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(0xffffffff, x, k);
    return x;
}

extern "C" __global__ void fine_reductions(float *o, const float *a, int rows, int columns) {
    extern __shared__ float s[];
    int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (row >= rows) return;
    const float *x = a + row * columns;
    float most = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, x[i]);
    most = most_of(most);
    if (lane == 0) s[warp] = most;
    __syncthreads();
    if (warp == 0) {
        float of_warp = lane < warps ? s[lane] : 0;
        of_warp = most_of(of_warp);
        if (lane == 0) s[0] = of_warp;
    }
    __syncthreads();
    most = s[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[i] - most;
    sum = sum_of(sum);
    if (lane == 0) s[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        float of_warp = lane < warps ? s[lane] : 0;
        of_warp = sum_of(of_warp);
        if (lane == 0) s[0] = of_warp;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) o[row * columns + i] = x[i] / s[0];
}
