// Loops with a block barrier and a second exit. Threads that take it leave the kernel, and no other waits for them.

// by_value leaves when a thread's own sum is large enough.
extern "C" __global__ void by_value(int *out, const int *in, int n) {
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < n; i++) {
        s += in[(i * blockDim.x + t) & 255];
        if (s > 1000 + t) { out[t] = -s; return; }
        __syncthreads();
        s ^= in[(t + i) & 255];
    }
    out[t] = s;
}

// together leaves in the same iteration in all threads.
extern "C" __global__ void together(int *out, const int *in, int n) {
    int t = threadIdx.x, s = 0;
    for (int i = 0; i < n; i++) {
        s += in[(i * blockDim.x + t) & 255];
        if (i * n > 300) { out[t] = -s; return; }
        __syncthreads();
        s ^= in[(t + i) & 255];
    }
    out[t] = s;
}
