// device_calls calls functions in the ways that keep a call a call: recursion, and a table of function pointers.
// Lanes recurse to different depths and branch to different functions, so a warp splits at every call. The addresses in the
// table are relocations in the module's data.
__device__ __noinline__ int lattice_paths(int right, int down) {
    if (right == 0 || down == 0) {
        return 1;
    }
    return lattice_paths(right - 1, down) + lattice_paths(right, down - 1);
}

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ __noinline__ int horner(int a, int b) {
    int v = 0;
    for (int i = 0; i < 5; i++) {
        v = v * a + b;
    }
    return v;
}

typedef int (*Operation)(int, int);
__device__ Operation operations[4] = {add, subtract, larger, horner};

extern "C" __global__ void device_calls(const int *right, const int *down, const int *choice, int *paths, int *results, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int count = lattice_paths(right[i], down[i]);
    paths[i] = count;
    results[i] = operations[choice[i]](count, i);
}
