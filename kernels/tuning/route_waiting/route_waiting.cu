// route_waiting walks along the rows of a wall and mixes the cost of each into that of the way.
// The cost of a row is loaded when it is needed. Its partner is route_ahead.
extern "C" __global__ void route_waiting(const int *__restrict__ wall, int *__restrict__ out, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int cost = 0;
#pragma unroll 1
    for (int r = 0; r < rows; r++) {
        cost += wall[r * n + i];
#pragma unroll
        for (int k = 0; k < 16; k++) {
            cost = min(cost * 3 + k, cost ^ 0x2AAAAA) & 0xFFFFFF;
        }
    }
    out[i] = cost;
}
