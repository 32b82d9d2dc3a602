// Everything that a container can hold: variables in each space, pointers to variables and functions, device functions that
// two kernels call, recursion, compiler helpers, system calls, launch bounds and parameters of each size.
extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);

#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __func__, sizeof(char)))

struct Pair { int a; double b; };

__constant__ float coeff[4] = {1.0f, 2.0f, 3.0f, 4.0f};
__constant__ int limits[2];
__device__ int counter;
__device__ int primes[5] = {2, 3, 5, 7, 11};
__device__ int *second = &primes[1];
__device__ double big[100];

__device__ __noinline__ int twice(int x) { return x + x + counter; }
__device__ __noinline__ int square(int x) { return x * x - counter; }
__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

typedef int (*Fn)(int);
__device__ Fn table[2] = {twice, square};

extern "C" __global__ void __launch_bounds__(256, 2) calls(int *out, int n, char flag, Pair p)
{
    __shared__ int tile[256];
    extern __shared__ int dyn[];
    int i = threadIdx.x;
    tile[i] = table[(i + flag) & 1](n);
    dyn[i] = i;
    __syncthreads();
    out[i] = tile[255 - i] + dyn[255 - i] + ackermann(2, i & 3) + p.a + (int)p.b + limits[i & 1];
}

__global__ void slow(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i];
        out[i] = sqrtf(x) / (x + coeff[i & 3]) + twice(i) + *second + (float)big[i % 100];
    }
}

namespace ns {
__global__ void talk(int n)
{
    assert(n > 0);
    int *p = (int *)malloc(n * sizeof(int));
    p[0] = n;
    printf("n = %d, p[0] = %d\n", n, p[0]);
    free(p);
}
}
