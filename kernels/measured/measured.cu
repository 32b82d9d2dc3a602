// Small kernels in the shapes of those that were timed on real GPUs: the times are in measured.json of each GPU's folder.

extern "C" __global__ void nothing() {}

extern "C" __global__ void add(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void scale_add(float s, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = s * a[i] + b[i];
}

// Every eighth element: one sector a thread.
extern "C" __global__ void copy_strided(const float *__restrict__ a, float *__restrict__ c, int n) {
    int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i];
}

// The writes are uncoalesced.
extern "C" __global__ void transpose(const float *__restrict__ a, float *__restrict__ c, int rows, int columns) {
    int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < rows && x < columns) c[x * rows + y] = a[y * columns + x];
}

extern "C" __global__ void convolve(const float *__restrict__ image, const float *__restrict__ weight, float *__restrict__ c, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width - 2 || y >= height - 2) return;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 3; j++)
#pragma unroll
        for (int i = 0; i < 3; i++) sum += image[(y + j) * width + x + i] * weight[3 * j + i];
    c[y * width + x] = sum;
}

// Two elements a thread, then halving in shared memory, with a barrier behind the last round too.
__device__ void halve(float *partial, float *out) {
    __syncthreads();
    for (int n = blockDim.x / 2; n > 0; n /= 2) {
        if (threadIdx.x < n) partial[threadIdx.x] += partial[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void sum(const float *__restrict__ a, float *__restrict__ out, int n) {
    extern __shared__ float partial[];
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    if (i < n) v += a[i];
    if (i + blockDim.x < n) v += a[i + blockDim.x];
    partial[threadIdx.x] = v;
    halve(partial, out);
}

extern "C" __global__ void dot(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
    extern __shared__ float partial[];
    int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    if (i < n) v += a[i] * b[i];
    if (i + blockDim.x < n) v += a[i + blockDim.x] * b[i + blockDim.x];
    partial[threadIdx.x] = v;
    halve(partial, out);
}

extern "C" __global__ void multiply(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

// Every thread of the launch counts up the same word.
extern "C" __global__ void count(unsigned *__restrict__ counter, int times) {
    for (int i = 0; i < times; i++) atomicAdd(counter, 1u);
}

#if __CUDA_ARCH__ >= 900

// A chain of 128 dependent FFMA, so many times. No two of their operands are in one register bank.
extern "C" __global__ void multiply_add(float *out, int rounds) {
    float v = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < rounds; i++)
#pragma unroll
        for (int j = 0; j < 128; j++) v = v * 0.5f + 1.0f;
    if (v < 0) *out = v;
}

// A cycle through all n elements, a power of two, in an order without locality.
extern "C" __global__ void link(unsigned *next, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) next[i] = (i * 1664525u + 1013904223u) & (n - 1);
}

extern "C" __global__ void chase(const unsigned *next, unsigned *out, int steps) {
    unsigned at = 0;
    for (int i = 0; i < steps; i++) at = next[at];
    if (threadIdx.x == 0) *out = at;
}

// The same past L1.
extern "C" __global__ void chase_l2(const unsigned *next, unsigned *out, int steps) {
    unsigned at = 0;
    for (int i = 0; i < steps; i++) at = __ldcg(next + at);
    if (threadIdx.x == 0) *out = at;
}

// The kernels of PolyBench in their simple form: what is added up is stored in every round, as the arrays may overlap.
extern "C" __global__ void gemm(const float *a, const float *b, float *c, float alpha, float beta, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n) return;
    c[row * n + column] *= beta;
    for (int k = 0; k < n; k++) c[row * n + column] += alpha * a[row * n + k] * b[k * n + column];
}

extern "C" __global__ void times_vector(const float *a, const float *x, float *product, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int j = 0; j < columns; j++) product[row] += a[row * columns + j] * x[j];
}

extern "C" __global__ void transposed_times_vector(const float *a, const float *x, float *product, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (int i = 0; i < rows; i++) product[column] += a[i * columns + column] * x[i];
}

extern "C" __global__ void stencil(const float *a, float *b, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= columns - 1 || y >= rows - 1) return;
    const float *up = a + (y - 1) * columns + x, *at = up + columns, *down = at + columns;
    b[y * columns + x] = 0.2f * up[-1] + 0.5f * up[0] - 0.8f * up[1] - 0.3f * at[-1] + 0.6f * at[0] - 0.9f * at[1] + 0.4f * down[-1] +
                         0.7f * down[0] + 0.1f * down[1];
}

#endif
