// bfs extends a breadth-first search by one level: every node of the last level labels its neighbours.
// One node a thread, all nodes at every level: most threads find nothing to do, degrees differ between lanes, and the
// levels of neighbours are scattered loads. The launch file runs the levels one after another.
extern "C" __global__ void bfs(int nodes, int current, const int *first, const int *edges, int *level, int *changed) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || level[node] != current) {
        return;
    }
    for (int e = first[node]; e < first[node + 1]; e++) {
        int neighbour = edges[e];
        if (level[neighbour] < 0) {
            level[neighbour] = current + 1;
            changed[current] = 1;
        }
    }
}
