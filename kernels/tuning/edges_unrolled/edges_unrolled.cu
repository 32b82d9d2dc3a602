// edges_unrolled finds the cheapest neighbour of each node of a graph, as a step of bfs does.
// The partner of edges_rolled: four edges at a time.
extern "C" __global__ void edges_unrolled(const int *__restrict__ ends, const int *__restrict__ cost, int *__restrict__ out, int degree, int n) {
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    int least = 1 << 30;
#pragma unroll 4
    for (int e = 0; e < degree; e++) {
        least = min(least, cost[ends[e * n + node]]);
    }
    out[node] = least;
}
