// Kernels whose branches are told apart: Gupta and Datta's example, and shapes of the benchmarks that they look at.
//
// Built with NVRTC 12.9: --gpu-architecture=sm_70 and sm_80, -lineinfo.
__device__ float reduction_sum;

// Figure 2 of the paper.
extern "C" __global__ void vector_dot(const float *a, const float *b, float *c, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        c[idx] = a[idx] * b[idx];
    }
    __syncthreads();
    if (idx == 0) {
        for (int i = 0; i < n; i++) {
            reduction_sum += c[i];
        }
    }
}

struct Node {
    int starting;
    int edges;
};

// Breadth-first search, a level.
extern "C" __global__ void bfs(const Node *nodes, const int *edges, bool *mask, bool *next, const bool *visited, int *cost, int n) {
    int tid = blockIdx.x * 512 + threadIdx.x;
    if (tid >= n) return;
    if (mask[tid]) {
        mask[tid] = false;
        for (int i = nodes[tid].starting; i < nodes[tid].starting + nodes[tid].edges; i++) {
            int id = edges[i];
            if (!visited[id]) {
                cost[id] = cost[tid] + 1;
                next[id] = true;
            }
        }
    }
}

// Gaussian elimination: nothing but guards.
extern "C" __global__ void fan2(const float *m, float *a, float *b, int size, int t) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size - 1 - t) return;
    if (y >= size - t) return;
    a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
    if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + (y + t)] * b[t];
}

// A loop that deals work out, with a branch on data in it; parameters alone; the value of another lane; a table through a call.
extern "C" __global__ void kinds(const float *a, volatile float *o, int n, int flag) {
    float s = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (a[i] > 0) {
            s += o[i] + o[i + 1];
            o[i] = s;
        }
    }
    if (flag) {
        o[0] = s;
        o[1] = s + o[2];
    }
    int other = __shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1);
    if (other > 7) {
        o[3] = s;
        o[4] = s + o[5];
    }
#pragma unroll 1
    for (int k = 0; k < 5; k++) {
        o[k] = o[k + 1] + s;
    }
}

// Values that control flow selects: which one a thread has depends on the branches that it took, not on any operand.
extern "C" __global__ void selected(volatile float *o, int n, int m) {
    int x = m;
    if (threadIdx.x > 7) {
        x = n;
#pragma unroll 1
        for (int k = 0; k < m; k++) o[k] = o[k + 1] + 2;
    }
    o[8] = 0;
    if (x == 5) {
        o[2] = 1;
        o[3] = o[4] + 2;
    }
    int trips = 0;
#pragma unroll 1
    while (o[trips] > 0) {
        trips++;
    }
    if (trips > 4) {
        o[5] = 1;
        o[6] = o[7] + 2;
    }
}
