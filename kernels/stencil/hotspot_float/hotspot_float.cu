// hotspot_float advances the temperatures of a chip's surface by some time steps, as hotspot does.
// The constant is 2.0f, so everything stays in single precision: the partner of hotspot.
#define TILE 16

extern "C" __global__ void hotspot_float(int steps, const float *power, const float *before, float *after, int columns, int rows,
                                   float step_over_capacity, float rx, float ry, float rz) {
    __shared__ float temperature[TILE][TILE];
    __shared__ float result[TILE][TILE];
    const float ambient = 80.0f;
    int tx = threadIdx.x, ty = threadIdx.y;
    int inner = TILE - 2 * steps;
    int col = blockIdx.x * inner + tx - steps;
    int row = blockIdx.y * inner + ty - steps;
    bool inside = row >= 0 && row < rows && col >= 0 && col < columns;
    float p = 0.0f;
    if (inside) {
        temperature[ty][tx] = before[row * columns + col];
        p = power[row * columns + col];
    }
    __syncthreads();

    // The surface ends with an isolated edge: a cell there has itself as its neighbour.
    int north = row > 0 ? ty - 1 : ty;
    int south = row < rows - 1 ? ty + 1 : ty;
    int west = col > 0 ? tx - 1 : tx;
    int east = col < columns - 1 ? tx + 1 : tx;
    for (int i = 1; i <= steps; i++) {
        bool valid = inside && tx >= i && tx < TILE - i && ty >= i && ty < TILE - i;
        if (valid) {
            float here = temperature[ty][tx];
            result[ty][tx] = here + step_over_capacity * (p
                + (temperature[south][tx] + temperature[north][tx] - 2.0f * here) * ry
                + (temperature[ty][east] + temperature[ty][west] - 2.0f * here) * rx
                + (ambient - here) * rz);
        }
        __syncthreads();
        if (valid) {
            temperature[ty][tx] = result[ty][tx];
        }
        __syncthreads();
    }
    if (inside && tx >= steps && tx < TILE - steps && ty >= steps && ty < TILE - steps) {
        after[row * columns + col] = temperature[ty][tx];
    }
}
