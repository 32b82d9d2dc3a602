// Kernels with the control flow of figures about re-convergence. Stores to volatile memory keep each block what it is.
//
// Built with NVRTC 12.9: --gpu-architecture=sm_70 -lineinfo.

// Thread Frontiers, Figure 1: BB1 to {BB2, BB3}, BB2 to {Exit, BB3}, BB3 to {BB4, BB5}, BB4 to {BB5, Exit}.
extern "C" __global__ void figure1(volatile int *c, volatile int *o) {
    int i = threadIdx.x;
    o[i] = 1;
    if (c[i]) goto bb3;
    o[i] = 2;
    if (c[i + 32]) goto ex;
bb3:
    o[i] = 3;
    if (c[i + 64]) goto bb5;
    o[i] = 4;
    if (c[i + 96]) goto ex;
bb5:
    o[i] = 5;
ex:
    o[i] = 6;
}

// Thread Frontiers, Figure 2 (a): a barrier before the post-dominator of the branches that throw.
extern "C" __global__ void figure2a(const int *a, int *o) {
    __shared__ int s[256];
    int i = threadIdx.x;
    int x = a[i];
    if (x > 5) {
        o[i] = a[x];
        if (x > 1000) goto bb4;
        s[i] = x * 3;
    } else {
        o[i + 1] = a[x + 9];
        if (x < -1000) goto bb4;
        s[i] = x * 5;
    }
    __syncthreads();
    o[i + 2] = s[i ^ 1];
bb4:
    o[i + 3] = x;
}

// Figure 2 (c): a loop that begins with a barrier and has a side path, long enough to stay a branch.
extern "C" __global__ void figure2c(volatile int *c, volatile int *o, int n) {
    int i = threadIdx.x;
    int k = 0;
#pragma unroll 1
    do {
        o[i] = 0;
        __syncthreads();
        if (c[i + k]) {
            for (int j = 64; j < 512; j += 64) {
                o[i + j] = c[i + j] + k;
            }
        }
        o[i] = 2;
        k++;
    } while (k < n);
}

// A lock whose holder has left the loop in which the others spin, and one that is released in the loop.
extern "C" __global__ void spin_while(int *lock, volatile int *o) {
    while (atomicCAS(lock, 0, 1) != 0);
    o[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void spin_done(int *lock, volatile int *o) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            o[0] += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
