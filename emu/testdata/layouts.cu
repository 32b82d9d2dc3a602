// Kernels before and after changes of how work is laid out over threads, for the tests of edited streams. The first of each group is
// what was changed.

// row sums: a thread, a warp or a block a row.
extern "C" __global__ void sums_thread(const float *__restrict__ in, float *__restrict__ out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int j = 0; j < columns; j++) sum += in[row * columns + j];
    out[row] = sum;
}

extern "C" __global__ void sums_warp(const float *__restrict__ in, float *__restrict__ out, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
#pragma unroll 4
    for (int j = lane; j < columns; j += 32) sum += in[row * columns + j];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0) out[row] = sum;
}

extern "C" __global__ void sums_block(const float *__restrict__ in, float *__restrict__ out, int columns) {
    __shared__ float parts[32];
    int row = blockIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int j = threadIdx.x; j < columns; j += 256) sum += in[row * columns + j];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = threadIdx.x < 8 ? parts[threadIdx.x] : 0.f;
    for (int d = 4; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) out[row] = sum;
}

// mean and deviation of rows: two loops.
extern "C" __global__ void moments_thread(const float *__restrict__ in, float *__restrict__ out, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    const float *x = in + row * columns;
    float mean = 0;
    for (int j = 0; j < columns; j++) mean += x[j];
    mean /= columns;
    float var = 0;
    for (int j = 0; j < columns; j++) { float d = x[j] - mean; var += d * d; }
    out[row] = rsqrtf(var / columns + 1e-5f);
}

extern "C" __global__ void moments_warp(const float *__restrict__ in, float *__restrict__ out, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *x = in + row * columns;
    float mean = 0;
    for (int j = lane; j < columns; j += 32) mean += x[j];
    for (int d = 16; d > 0; d /= 2) mean += __shfl_xor_sync(0xffffffff, mean, d);
    mean /= columns;
    float var = 0;
    for (int j = lane; j < columns; j += 32) { float d = x[j] - mean; var += d * d; }
    for (int d = 16; d > 0; d /= 2) var += __shfl_xor_sync(0xffffffff, var, d);
    if (lane == 0) out[row] = rsqrtf(var / columns + 1e-5f);
}

// matrix products C = A B of n by n matrices: a result a thread from global memory, and four of a column.
extern "C" __global__ void product(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int col = blockIdx.x * 32 + threadIdx.x % 32, row = blockIdx.y * 8 + threadIdx.x / 32;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

extern "C" __global__ __launch_bounds__(64, 1) void product_four(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    int col = blockIdx.x * 32 + threadIdx.x % 32, row = blockIdx.y * 8 + threadIdx.x / 32 * 4;
    float sum[4] = {};
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        float y = b[k * n + col];
        for (int i = 0; i < 4; i++) sum[i] += a[(row + i) * n + k] * y;
    }
    for (int i = 0; i < 4; i++) c[(row + i) * n + col] = sum[i];
}

// a result a thread, with the factors of 32 rounds in shared memory.
extern "C" __global__ void product_tile(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float ta[8][32], tb[32][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    int col = blockIdx.x * 32 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        ta[ty][tx] = a[row * n + t + tx];
        for (int i = 0; i < 32; i += 8) tb[ty + i][tx] = b[(t + ty + i) * n + col];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 32; k++) sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

extern "C" __global__ void product_tile_four(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float ta[8][32], tb[32][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    int col = blockIdx.x * 32 + tx, row = blockIdx.y * 8 + ty * 4;
    float sum[4] = {};
    for (int t = 0; t < n; t += 32) {
        for (int i = 0; i < 4; i++) ta[ty * 4 + i][tx] = a[(row + i) * n + t + tx];
        for (int i = 0; i < 32; i += 2) tb[ty + i][tx] = b[(t + ty + i) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; k++) {
            float y = tb[k][tx];
            for (int i = 0; i < 4; i++) sum[i] += ta[ty * 4 + i][k] * y;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) c[(row + i) * n + col] = sum[i];
}

// the same with tiles in shared memory: 32 by 32, a result a thread, and four or eight of a column.
template <int R>
__device__ void tiles(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float ta[32][32], tb[32][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32 * R;
    int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float sum[R] = {};
    for (int t = 0; t < n; t += 32) {
        for (int i = 0; i < R; i++) {
            ta[ty + i][tx] = a[(row + i) * n + t + tx];
            tb[ty + i][tx] = b[(t + ty + i) * n + col];
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; k++) {
            float y = tb[k][tx];
            for (int i = 0; i < R; i++) sum[i] += ta[ty + i][k] * y;
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++) c[(row + i) * n + col] = sum[i];
}

extern "C" __global__ void tiled(const float *a, const float *b, float *c, int n) { tiles<1>(a, b, c, n); }
extern "C" __global__ void tiled_four(const float *a, const float *b, float *c, int n) { tiles<4>(a, b, c, n); }
extern "C" __global__ void tiled_eight(const float *a, const float *b, float *c, int n) { tiles<8>(a, b, c, n); }

// the same with the tiles of four blocks along y of the grid in one: 128 by 32 results.
extern "C" __global__ void tiled_blocks(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ float ta[4][32][32], tb[32][32];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    int row = blockIdx.y * 128 + ty, col = blockIdx.x * 32 + tx;
    float sum[4] = {};
    for (int t = 0; t < n; t += 32) {
        for (int i = 0; i < 4; i++) ta[i][ty][tx] = a[(row + 32 * i) * n + t + tx];
        tb[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; k++) {
            float y = tb[k][tx];
            for (int i = 0; i < 4; i++) sum[i] += ta[i][ty][k] * y;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) c[(row + 32 * i) * n + col] = sum[i];
}

// columns summed up by a thread each, and by eight blocks that have a part of the rows each.
extern "C" __global__ void columns(const float *__restrict__ in, float *__restrict__ out, int rows, int width) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < rows; i++) sum += in[i * width + col];
    out[col] = sum;
}

extern "C" __global__ void columns_parts(const float *__restrict__ in, float *__restrict__ out, int rows, int width) {
    int col = blockIdx.x / 8 * blockDim.x + threadIdx.x, part = blockIdx.x % 8;
    float sum = 0;
    for (int i = part * (rows / 8); i < (part + 1) * (rows / 8); i++) sum += in[i * width + col];
    atomicAdd(&out[col], sum);
}

// an element a thread, and four with wide accesses.
extern "C" __global__ void scale(const float *__restrict__ in, float *__restrict__ out, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * f + 1;
}

extern "C" __global__ void scale_four(const float4 *__restrict__ in, float4 *__restrict__ out, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = in[i];
    out[i] = make_float4(x.x * f + 1, x.y * f + 1, x.z * f + 1, x.w * f + 1);
}

// steps along rows of indices, each used as it comes, and loaded two rounds ahead.
extern "C" __global__ void walk(const float *__restrict__ in, float *__restrict__ out, int rounds, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 1;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) x = x * 0.5f + in[r * width + i];
    out[i] = x;
}

extern "C" __global__ void walk_ahead(const float *__restrict__ in, float *__restrict__ out, int rounds, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 1, a = in[i], b = in[width + i];
#pragma unroll 1
    for (int r = 2; r < rounds; r += 3) {
        float c = in[r * width + i];
        x = x * 0.5f + a;
        a = in[(r + 1) * width + i];
        x = x * 0.5f + b;
        b = in[(r + 2) * width + i];
        x = x * 0.5f + c;
    }
    x = x * 0.5f + a;
    out[i] = x * 0.5f + b;
}

// sums over a stride of the grid: a word or a vector a round.
extern "C" __global__ void strides(const float *__restrict__ in, float *__restrict__ out, int n) {
    float sum = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void strides_four(const float4 *__restrict__ in, float *__restrict__ out, int n) {
    float sum = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// sums of blocks: in global memory, in shared memory, and with the last steps by shuffles.
extern "C" __global__ void tree_global(float *in, float *out) {
    float *mine = in + blockIdx.x * 256;
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) mine[threadIdx.x] += mine[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0];
}

extern "C" __global__ void tree_shared(float *in, float *out) {
    __shared__ float mine[256];
    mine[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) mine[threadIdx.x] += mine[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = mine[0];
}

extern "C" __global__ void tree_shuffles(float *in, float *out) {
    __shared__ float mine[256];
    mine[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int d = 128; d > 32; d /= 2) {
        if (threadIdx.x < d) mine[threadIdx.x] += mine[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x < 32) {
        float sum = mine[threadIdx.x] + mine[threadIdx.x + 32];
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

// copies of four words a thread, one by one and at once.
extern "C" __global__ void copy_words(const float *in, float *out) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    out[i] = in[i];
    out[i + 1] = in[i + 1];
    out[i + 2] = in[i + 2];
    out[i + 3] = in[i + 3];
}

extern "C" __global__ void copy_vectors(const float4 *in, float4 *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

// normalised rows: a block a row, a thread one element or four.
template <int N>
__device__ float block_sum(float value) {
    __shared__ float parts[32];
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = threadIdx.x % 32 < N / 32 ? parts[threadIdx.x % 32] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    __syncthreads();
    return sum;
}

extern "C" __global__ void normalize(const float *__restrict__ in, float *__restrict__ out) {
    int i = blockIdx.x * 512 + threadIdx.x;
    float x = in[i];
    float mean = block_sum<512>(x) / 512;
    float scale = rsqrtf(block_sum<512>((x - mean) * (x - mean)) / 512 + 1e-5f);
    out[i] = (x - mean) * scale;
}

extern "C" __global__ void normalize_four(const float4 *__restrict__ in, float4 *__restrict__ out) {
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 x = in[i];
    float mean = block_sum<128>(x.x + x.y + x.z + x.w) / 512;
    x.x -= mean, x.y -= mean, x.z -= mean, x.w -= mean;
    float scale = rsqrtf(block_sum<128>(x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w) / 512 + 1e-5f);
    out[i] = make_float4(x.x * scale, x.y * scale, x.z * scale, x.w * scale);
}

// a product of tiles of 64 x 64 and 16 deep, 4 x 4 results a thread: a tile at a time, or the next one on its way meanwhile.
__device__ void tile_results(const float (*a)[64], const float (*b)[64], float (*sum)[4]) {
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sum[i][j] += a[k][y * 4 + i] * b[k][x * 4 + j];
}

extern "C" __global__ void one_buffer(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ __align__(16) float ta[16][64], tb[16][64];
    float sum[4][4] = {};
    int column = threadIdx.x % 64, row = threadIdx.x / 64;
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 16; i += 4) {
            ta[row + i][column] = a[(k + row + i) * n + blockIdx.y * 64 + column];
            tb[row + i][column] = b[(k + row + i) * n + blockIdx.x * 64 + column];
        }
        __syncthreads();
        tile_results(ta, tb, sum);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(blockIdx.y * 64 + threadIdx.x / 16 * 4 + i) * n + blockIdx.x * 64 + threadIdx.x % 16 * 4 + j] = sum[i][j];
}

__device__ void copy_word(float *to, const float *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from));
}

extern "C" __global__ void two_buffers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n) {
    __shared__ __align__(16) float ta[2][16][64], tb[2][16][64];
    float sum[4][4] = {};
    int column = threadIdx.x % 64, row = threadIdx.x / 64;
    for (int k = 0; k <= n; k += 16) {
        int buffer = k / 16 % 2;
        if (k < n)
            for (int i = 0; i < 16; i += 4) {
                copy_word(&ta[buffer][row + i][column], &a[(k + row + i) * n + blockIdx.y * 64 + column]);
                copy_word(&tb[buffer][row + i][column], &b[(k + row + i) * n + blockIdx.x * 64 + column]);
            }
        if (k > 0) tile_results(ta[!buffer], tb[!buffer], sum);
        asm volatile("cp.async.wait_all;");
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(blockIdx.y * 64 + threadIdx.x / 16 * 4 + i) * n + blockIdx.x * 64 + threadIdx.x % 16 * 4 + j] = sum[i][j];
}

// counts of values in 256 bins: in global memory, or in a block's own copy first; and a sum by one atomic a thread or a block.
extern "C" __global__ void bins_global(const unsigned *__restrict__ in, unsigned *__restrict__ bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] >> 8 & 255], 1);
}

extern "C" __global__ void bins_shared(const unsigned *__restrict__ in, unsigned *__restrict__ bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[in[i] >> 8 & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void bins_item(const unsigned *__restrict__ in, unsigned *__restrict__ bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&own[in[i] >> 8 & 255], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

extern "C" __global__ void total_threads(const float *__restrict__ in, float *__restrict__ out) {
    atomicAdd(out, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void total_blocks(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float parts[8];
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? parts[threadIdx.x] : 0;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

// sums of 512 elements a block, and of what a loop with the stride of the grid adds up before.
__device__ void block_sum(float sum, float *out) {
    __shared__ float parts[256];
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d >= 32; d /= 2) {
        if (threadIdx.x < d) parts[threadIdx.x] = sum = sum + parts[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x < 32)
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

extern "C" __global__ void block_sums(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * 512 + threadIdx.x;
    float sum = i < n ? in[i] : 0;
    if (i + 256 < n) sum += in[i + 256];
    block_sum(sum, out);
}

extern "C" __global__ void block_sums_strided(const float *__restrict__ in, float *__restrict__ out, int n) {
    float sum = 0;
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n; i += gridDim.x * 512) {
        sum += in[i];
        if (i + 256 < n) sum += in[i + 256];
    }
    block_sum(sum, out);
}

// three arrays updated in place one after the other, or all loaded first.
extern "C" __global__ void update(const float *in, float *a, float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = a[i] * 0.5f + in[i];
    b[i] = b[i] * 0.25f + 1;
    c[i] = c[i] * 0.125f + 2;
}

extern "C" __global__ void update_loaded(const float *in, float *a, float *b, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], ai = a[i], bi = b[i], ci = c[i];
    a[i] = ai * 0.5f + x;
    b[i] = bi * 0.25f + 1;
    c[i] = ci * 0.125f + 2;
}

// sums of columns that are kept in memory: every store might change what the next round loads, or no store does.
extern "C" __global__ void column_memory(const float *in, const float *factors, float *out, int rounds, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < rounds; j++) {
        out[i] += in[j * width + i] * factors[j];
    }
}

extern "C" __global__ void column_restrict(const float *__restrict__ in, const float *__restrict__ factors, float *__restrict__ out, int rounds, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < rounds; j++) {
        out[i] += in[j * width + i] * factors[j];
    }
}

// a state in shared memory with factors that all threads read from shared memory: words, as each store of the state might change them, or
// vectors, loaded before.
const int STATE = 32;

extern "C" __global__ void state_words(const float *in, float *out, int rounds) {
    __shared__ float state[STATE * 64], factors[STATE];
    int i = threadIdx.x;
#pragma unroll
    for (int j = 0; j < STATE; j++) {
        state[j * 64 + i] = 0;
    }
    float sum = 0;
    for (int t = 0; t < rounds; t++) {
        if (i < STATE) {
            factors[i] = in[(blockIdx.x * rounds + t) * STATE + i];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < STATE; j++) {
            float s = state[j * 64 + i];
            sum += s;
            state[j * 64 + i] = s * 0.5f + factors[j];
        }
        __syncthreads();
    }
    out[blockIdx.x * 64 + i] = sum;
}

extern "C" __global__ void state_vectors(const float *in, float *out, int rounds) {
    __shared__ float state[STATE * 64];
    __shared__ float4 factors[STATE / 4];
    int i = threadIdx.x;
#pragma unroll
    for (int j = 0; j < STATE; j++) {
        state[j * 64 + i] = 0;
    }
    float sum = 0;
    for (int t = 0; t < rounds; t++) {
        if (i < STATE) {
            ((float *)factors)[i] = in[(blockIdx.x * rounds + t) * STATE + i];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < STATE; j += 4) {
            float4 f = factors[j / 4];
            float by[4] = {f.x, f.y, f.z, f.w};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                float s = state[(j + k) * 64 + i];
                sum += s;
                state[(j + k) * 64 + i] = s * 0.5f + by[k];
            }
        }
        __syncthreads();
    }
    out[blockIdx.x * 64 + i] = sum;
}

// windows of neighbouring threads overlap: no vector begins at each.
extern "C" __global__ void windows(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 0.5f * in[i + 1] + 0.25f * in[i + 2] + 0.125f * in[i + 3];
}

// a tile that a block brings to shared memory, four elements a thread: as far apart as the block has threads, or neighbouring ones.
extern "C" __global__ void stage_words(const float *in, float *out, int rounds) {
    __shared__ float tile[1024];
    int i = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < rounds; t++) {
        const float *from = in + t * 1024;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            tile[i + 256 * j] = from[i + 256 * j];
        }
        __syncthreads();
        sum += tile[i * 37 % 1024];
        __syncthreads();
    }
    out[blockIdx.x * 256 + i] = sum;
}

extern "C" __global__ void stage_vectors(const float4 *in, float *out, int rounds) {
    __shared__ float4 tile[256];
    int i = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < rounds; t++) {
        tile[i] = in[t * 256 + i];
        __syncthreads();
        sum += ((float *)tile)[i * 37 % 1024];
        __syncthreads();
    }
    out[blockIdx.x * 256 + i] = sum;
}

// the places of what is kept of a row, counted by one thread a row or by a warp with a scan of each 32 elements.
extern "C" __global__ void places(const int *in, int *out, int columns) {
    const int *row = in + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
    int *places = out + (blockIdx.x * blockDim.x + threadIdx.x) * columns;
    int count = 0;
    for (int i = 0; i < columns; i++) {
        count += row[i];
        places[i] = count;
    }
}

extern "C" __global__ void places_warp(const int *in, int *out, int columns) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int *row = in + warp * columns;
    int *places = out + warp * columns;
    int count = 0;
    for (int i = lane; i < columns; i += 32) {
        int sum = row[i];
        for (int d = 1; d < 32; d *= 2) {
            int other = __shfl_up_sync(0xffffffff, sum, d);
            sum += lane >= d ? other : 0;
        }
        places[i] = count + sum;
        count += __shfl_sync(0xffffffff, sum, 31);
    }
}

// sums of the rows of small matrices in shared memory, by blocks of one or of four matrices.
template <int MATRICES> __device__ void small_sums(const float *in, float *out) {
    __shared__ float tile[MATRICES][8][8];
    int m = threadIdx.x / 64, i = threadIdx.x / 8 % 8, j = threadIdx.x % 8;
    int first = blockIdx.x * blockDim.x;
    tile[m][i][j] = in[first + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        sum += tile[m][j][k] * tile[m][k][i];
    }
    out[first + threadIdx.x] = sum;
}

extern "C" __global__ void small_one(const float *in, float *out) { small_sums<1>(in, out); }

extern "C" __global__ void small_four(const float *in, float *out) { small_sums<4>(in, out); }

// the transposition of a matrix by tiles of 32 by 32, with 256 threads, directly or through shared memory.
extern "C" __global__ void transpose_rows(const float *in, float *out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        out[x * n + y + j] = in[(y + j) * n + x];
    }
}

extern "C" __global__ void transpose_columns(const float *in, float *out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 32 + threadIdx.x / 32;
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        out[(y + j) * n + x] = in[x * n + y + j];
    }
}

__device__ void transpose_tile(const float *in, float *out, int n, int bx, int by) {
    __shared__ float tile[32][33];
    int i = threadIdx.x % 32, k = threadIdx.x / 32;
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        tile[k + j][i] = in[(by * 32 + k + j) * n + bx * 32 + i];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j += 8) {
        out[(bx * 32 + k + j) * n + by * 32 + i] = tile[i][k + j];
    }
}

extern "C" __global__ void transpose_rows_tile(const float *in, float *out, int n) { transpose_tile(in, out, n, blockIdx.x, blockIdx.y); }

extern "C" __global__ void transpose_columns_tile(const float *in, float *out, int n) { transpose_tile(in, out, n, blockIdx.y, blockIdx.x); }

// sums of rows that a table names, as thousandths: an element or a vector of four a round of the outer loop.
extern "C" __global__ void named(const float *__restrict__ in, const float *__restrict__ rows, const float *__restrict__ weights, float *__restrict__ out, int n, int k) {
    for (int c = threadIdx.x; c < n; c += blockDim.x) {
        float sum = 0;
#pragma unroll 1
        for (int j = 0; j < k; j++) sum += weights[blockIdx.x * k + j] * in[(int)(rows[blockIdx.x * k + j] * 1000) * n + c];
        out[blockIdx.x * n + c] = sum;
    }
}

extern "C" __global__ void named_four(const float4 *__restrict__ in, const float *__restrict__ rows, const float *__restrict__ weights, float4 *__restrict__ out, int n, int k) {
    for (int c = threadIdx.x; c < n / 4; c += blockDim.x) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 1
        for (int j = 0; j < k; j++) {
            float w = weights[blockIdx.x * k + j];
            float4 v = in[(int)(rows[blockIdx.x * k + j] * 1000) * (n / 4) + c];
            sum.x += w * v.x, sum.y += w * v.y, sum.z += w * v.z, sum.w += w * v.w;
        }
        out[blockIdx.x * (n / 4) + c] = sum;
    }
}
