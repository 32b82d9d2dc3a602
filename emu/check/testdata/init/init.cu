// Kernels with errors of the kinds that initcheck of compute-sanitizer documents, and reads of other memory that nobody
// has written. See memory.cu for the comments.

//: 1 32 i32[32]:none
extern "C" __global__ void accumulate(int *sums) {
    sums[threadIdx.x] += threadIdx.x; //! uninitialised read 0/0
}

//: 2 32 i32[64]:none i32[64]
extern "C" __global__ void half_written(int *work, int *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i % 2 == 0) {
        work[i] = i;
    }
    __syncwarp();
    out[i] = ((volatile int *)work)[i]; //! uninitialised read 0/1
}

//: 1 64 i32[8]:none
extern "C" __global__ void atomic_unwritten(int *bins) {
    atomicAdd(&bins[threadIdx.x & 7], 1); //! uninitialised read 0/0
}

//: 1 32 u8[40]:none u8[32]
extern "C" __global__ void byte_unwritten(unsigned char *work, unsigned char *out) {
    if (threadIdx.x != 20) {
        work[threadIdx.x] = 1;
    }
    __syncwarp();
    out[threadIdx.x] = ((volatile unsigned char *)work)[threadIdx.x]; //! uninitialised read 0/20
}

//: 1 64 i32[64]
extern "C" __global__ void shared_unwritten(int *out) {
    __shared__ int s[64];
    if (threadIdx.x != 5) {
        s[threadIdx.x] = threadIdx.x;
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1]; //! uninitialised read 0/4
}

//: 1 64 i32[64] shared=512
extern "C" __global__ void dynamic_shared_unwritten(int *out) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + 2]; //! uninitialised read 0/62
}

//: 1 64 i32[64] i32:10
extern "C" __global__ void local_unwritten(int *out, int n) {
    int table[32];
    for (int i = 0; i < n; i++) {
        table[(i * 7) & 31] = i;
    }
    out[threadIdx.x] = table[threadIdx.x & 31]; //! uninitialised read 0/1
}

//: 1 32 i32[32]
extern "C" __global__ void heap_unwritten(int *out) {
    int *p = (int *)malloc(8);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0] + p[1]; //! uninitialised read 0/0
    free(p);
}

//: 1 64 i32[64]
extern "C" __global__ void shared_counter_not_cleared(int *out) {
    __shared__ int count;
    atomicAdd(&count, 1); //! uninitialised read
    __syncthreads();
    out[threadIdx.x] = count;
}

//: 1 64 i32[64]:none i32[64] sm=80
extern "C" __global__ void copy_unwritten(const int *in, int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])), "l"(&in[threadIdx.x]) : "memory"); //! uninitialised read 0/0
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
#endif
}

// No errors from here on.

//: 1 32 i32[32]
extern "C" __global__ void accumulate_zeros(int *sums) {
    sums[threadIdx.x] += threadIdx.x;
}

//: 1 32 i32[32]:none
extern "C" __global__ void written_before(int *work) {
    work[threadIdx.x] = threadIdx.x;
    __syncwarp();
    work[threadIdx.x] = ((volatile int *)work)[threadIdx.x ^ 1];
}
