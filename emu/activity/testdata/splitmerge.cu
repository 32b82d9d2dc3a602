// Split-merge: functions that are called through a pointer call one that they share (Thread Frontiers, section 6.3).
//
// Built with NVRTC 12.9: --gpu-architecture=sm_70 -lineinfo.
typedef int (*F)(int, volatile int *);
__device__ __noinline__ int shared_fn(int x, volatile int *o) { o[1] = x; o[2] = x * x; return o[3] + x; }
__device__ __noinline__ int f0(int x, volatile int *o) { o[10] = 1; return shared_fn(x, o) + 1; }
__device__ __noinline__ int f1(int x, volatile int *o) { o[11] = 3; return shared_fn(x + 2, o) * 2; }
__device__ __noinline__ int f2(int x, volatile int *o) { o[12] = 5; return shared_fn(x - 4, o) ^ 3; }
__device__ __noinline__ int f3(int x, volatile int *o) { o[13] = 7; return x; }
extern "C" __global__ void splitmerge(const int *a, volatile int *o) {
    int i = threadIdx.x;
    int s = a[i] & 3;
    int r;
    F f = s == 0 ? f0 : s == 1 ? f1 : s == 2 ? f2 : f3;
    r = f(i, o);
    o[i + 32] = r;
}
