// Kernels with errors of the kinds that memcheck of compute-sanitizer documents. Each begins with how it is launched,
//     //: GRID BLOCK ARGUMENT… [shared=BYTES] [padding=BYTES] [sm=FIRST[-LAST]]
// and the lines with errors end with what is reported there: the kind, and the first thread as block/thread.

//: 3 32 i32[64] i32:64
extern "C" __global__ void store_past_end(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = i; //! out of bounds 2/0
    }
}

//: 1 64 i32[64] i32[64]
extern "C" __global__ void load_past_end(const int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x + 1]; //! out of bounds 0/63
}

//: 1 64 i32[64] i32[64]
extern "C" __global__ void load_before_start(const int *in, int *out) {
    out[threadIdx.x] = in[(int)threadIdx.x - 1]; //! out of bounds 0/0
}

//: 1 32 i32[33] i32[33]
extern "C" __global__ void pair_across_end(const int *in, int *out) {
    if (threadIdx.x <= 16) {
        ((int2 *)out)[threadIdx.x] = make_int2(in[0], 1); //! out of bounds 0/16
    }
}

//: 1 64 u8[100] u8[100] i32:100
extern "C" __global__ void bytes_one_too_many(const unsigned char *in, unsigned char *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i + 1] = in[i]; //! out of bounds 0/35
    }
}

//: 1 32 i64:0 i32[32]
extern "C" __global__ void null_pointer(int *in, int *out) {
    out[threadIdx.x] = in[threadIdx.x]; //! null pointer 0/0
}

//: 1 32 u8[200] f32[32]
extern "C" __global__ void misaligned_word(const char *bytes, float *out) {
    out[threadIdx.x] = *(const float *)(bytes + 4 * threadIdx.x + (threadIdx.x == 7)); //! misaligned address 0/7
}

//: 1 32 f32[200] f32[200]
extern "C" __global__ void misaligned_vector(const float *in, float *out) {
    *(float4 *)(out + 4 * threadIdx.x) = *(const float4 *)(in + 4 * threadIdx.x + 2); //! misaligned address 0/0
}

//: 1 64 i32[64] i32:3
extern "C" __global__ void misaligned_shared(int *out, int shift) {
    __shared__ char s[512];
    *(int *)(s + 4 * threadIdx.x + (threadIdx.x == 9 ? shift : 0)) = threadIdx.x; //! misaligned address 0/9
    __syncthreads();
    if (threadIdx.x != 9) {
        out[threadIdx.x] = *(int *)(s + 4 * threadIdx.x);
    }
}

//: 1 64 i32[64] i32:2
extern "C" __global__ void shared_past_end(int *out, int shift) {
    __shared__ int s[64];
    s[threadIdx.x + shift] = threadIdx.x; //! out of bounds 0/62
    __syncthreads();
    if (threadIdx.x < 62) {
        out[threadIdx.x] = s[threadIdx.x + shift];
    }
}

//: 1 64 i32[64] shared=252
extern "C" __global__ void dynamic_shared_too_small(int *out) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x; //! out of bounds 0/63
    __syncthreads();
    if (threadIdx.x > 0) {
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}

//: 1 32 i32[32] i32:100000
extern "C" __global__ void local_past_end(int *out, int n) {
    int table[64];
    for (int i = 0; i < 64; i++) {
        table[i] = out[i & 31];
    }
    table[threadIdx.x == 5 ? n : out[threadIdx.x]] = 1; //! out of bounds 0/5
    out[threadIdx.x] = table[threadIdx.x + 1];
}

//: 1 64 i32[16]
extern "C" __global__ void atomic_past_end(int *bins) {
    atomicAdd(&bins[threadIdx.x / 3], 1); //! out of bounds 0/48
}

//: 1 32 u8[64]
extern "C" __global__ void atomic_misaligned(char *bins) {
    atomicAdd((int *)(bins + 4 + (threadIdx.x == 11)), 1); //! misaligned address 0/11
}

//: 1 32 i32[32]:iota(0,1)
extern "C" __global__ void stops_itself(int *in) {
    if (in[threadIdx.x] == 13) {
        __trap(); //! trap 0/13
    }
}

//: 1 32 i32[32]:iota(0,1)
extern "C" __global__ void assertion(int *in) {
    assert(in[threadIdx.x] != 4); //! assertion failed 0/4
}

//: 1 32 i32[32]
extern "C" __global__ void heap_past_end(int *out) {
    char *p = (char *)malloc(10);
    for (int i = 0; i <= 10; i++) {
        p[i] = out[threadIdx.x]; //! out of bounds 0/0
    }
    out[threadIdx.x] = p[3];
    free(p);
}

//: 1 32 i32[32]
extern "C" __global__ void heap_read_past_end(int *out) {
    int *p = (int *)malloc(3 * sizeof(int));
    p[0] = p[1] = p[2] = out[threadIdx.x];
    int sum = 0;
    for (int i = 0; i <= 3; i++) {
        sum += ((volatile int *)p)[i]; //! out of bounds 0/0
    }
    out[threadIdx.x] = sum;
    free(p);
}

//: 1 32 i32[32]
extern "C" __global__ void use_after_free(int *out) {
    volatile int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    free((void *)p);
    out[threadIdx.x] = p[0]; //! use after free 0/0
}

//: 1 32 i32[32]
extern "C" __global__ void double_free(int *out) {
    int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
    free(p);
    if (out[threadIdx.x] == 6) {
        free(p); //! double free 0/6
    }
}

//: 1 32 i32[32]
extern "C" __global__ void free_inside(int *out) {
    int *p = (int *)malloc(16); //! leak 0/0
    p[1] = threadIdx.x;
    out[threadIdx.x] = p[1];
    free(p + 1); //! invalid free 0/0
}

//: 1 32 i32[32]
extern "C" __global__ void free_buffer(int *out) {
    if (threadIdx.x == 3) {
        free(out); //! invalid free 0/3
    }
}

//: 1 32 i32[32]
extern "C" __global__ void leak(int *out) {
    int *p = (int *)malloc(4); //! leak 0/1
    *p = threadIdx.x;
    out[threadIdx.x] = *p;
    if (threadIdx.x % 2 == 0) {
        free(p);
    }
}

//: 1 32 i32[32] i64:1000000
extern "C" __global__ void heap_exhausted(int *out, size_t n) {
    int *p = (int *)malloc(n); //! malloc failed 0/8
    p[0] = threadIdx.x; //! null pointer 0/8
    out[threadIdx.x] = 1;
    free(p);
}

__device__ int *exchange[32];

//: 1 32 i32[32]
extern "C" __global__ void foreign_local(int *out) {
    int mine[4];
    for (int i = 0; i < 4; i++) {
        mine[i] = out[i] + threadIdx.x;
    }
    exchange[threadIdx.x] = mine;
    __syncthreads();
    int *theirs = exchange[(threadIdx.x + 1) & 31]; //! another thread's local memory 0/0
    out[threadIdx.x] = theirs[threadIdx.x & 3];
}

__device__ int first_table[64];
__device__ int second_table[64];

//: 1 65 i32[65] padding=1
extern "C" __global__ void into_next_variable(int *out) {
    first_table[threadIdx.x] = threadIdx.x; //! out of bounds 0/64
    second_table[threadIdx.x] = 1; //! out of bounds 0/64
    if (threadIdx.x < 64) {
        out[threadIdx.x] = first_table[threadIdx.x] + second_table[threadIdx.x];
    }
}

//: 1 64 i32[60] i32[64] sm=80
extern "C" __global__ void copy_past_end(const int *in, int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])), "l"(&in[threadIdx.x]) : "memory"); //! out of bounds 0/60
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
#endif
}

//: 1 64 i32[64] i32[64] sm=80
extern "C" __global__ void copy_past_shared(const int *in, int *out) {
#if __CUDA_ARCH__ >= 800
    __shared__ int s[64];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x + 1])), "l"(&in[threadIdx.x]) : "memory"); //! out of bounds 0/63
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[threadIdx.x] = s[64 - max(threadIdx.x, 1)];
#endif
}
