// find_roots follows parents to the roots of a forest and counts the steps: each load needs the one before it.
extern "C" __global__ void find_roots(const int *parent, int *root, int *depth, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int at = i, steps = 0;
    for (int up = parent[at]; up != at; up = parent[at]) {
        at = up;
        steps++;
    }
    root[i] = at;
    depth[i] = steps;
}
