// Kernels whose threads do what others do as well or could do, each with the same after the change: what a what-if run supposes of the first is held
// against the second (try_test.go). Compiled by NVRTC 12.9 for sm_80 with -lineinfo.

// Each element of a row finds the extreme and the sum of its row.
extern "C" __global__ void rows_alone(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float most = 0, sum = 0;
    for (int i = 0; i < width; i++) {
        most = fmaxf(most, in[y * width + i]);
    }
    for (int i = 0; i < width; i++) {
        sum += __expf(in[y * width + i] - most);
    }
    out[y * width + x] = __expf(in[y * width + x] - most) / sum;
}

extern "C" __global__ void rows_shared(const float *__restrict__ in, float *__restrict__ out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float most = 0, sum = 0;
    for (int i = threadIdx.x % 32; i < width; i += 32) {
        most = fmaxf(most, in[y * width + i]);
    }
    for (int k = 16; k > 0; k /= 2) {
        most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    }
    for (int i = threadIdx.x % 32; i < width; i += 32) {
        sum += __expf(in[y * width + i] - most);
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_xor_sync(~0u, sum, k);
    }
    out[y * width + x] = __expf(in[y * width + x] - most) / sum;
}

// One thread makes prefix sums in place.
extern "C" __global__ void scan_alone(int *data, int n) {
    for (int i = 1; i < n; i++) {
        data[i] += data[i - 1];
    }
}

extern "C" __global__ void scan_warp(int *data, int n) {
    int before = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        int sum = data[i];
        for (int k = 1; k < 32; k *= 2) {
            int left = __shfl_up_sync(~0u, sum, k);
            sum += threadIdx.x >= k ? left : 0;
        }
        sum += before;
        data[i] = sum;
        before = __shfl_sync(~0u, sum, 31);
    }
}

// Each thread fills a table with constants.
#define TABLE {7, 3, 9, 1, 14, 2, 11, 5, 0, 13, 6, 8, 15, 4, 10, 12, 21, 19, 30, 17, 28, 22, 16, 25, 31, 18, 27, 20, 23, 29, 24, 26}

extern "C" __global__ void table_local(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned table[] = TABLE;
        unsigned x = in[i];
        for (int k = 0; k < 4; k++) {
            x = table[x & 31] + (x >> 5) * 5;
        }
        out[i] = x;
    }
}

__constant__ unsigned table[] = TABLE;

extern "C" __global__ void table_constant(const unsigned *__restrict__ in, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned x = in[i];
        for (int k = 0; k < 4; k++) {
            x = table[x & 31] + (x >> 5) * 5;
        }
        out[i] = x;
    }
}

// A block of one thread goes through its cells, with divisions whose helpers it calls.
extern "C" __global__ void cells_alone(const float *__restrict__ in, float *__restrict__ out, int side) {
    int at = (blockIdx.y * side * gridDim.x + blockIdx.x) * side;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            int i = at + y * side * gridDim.x + x;
            out[i] = sqrtf(in[i]) / (in[i] + 3);
        }
    }
}

extern "C" __global__ void cells_threads(const float *__restrict__ in, float *__restrict__ out, int side) {
    int i = (blockIdx.y * blockDim.y + threadIdx.y) * side * gridDim.x + blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sqrtf(in[i]) / (in[i] + 3);
}

// One thread does what all elements need.
extern "C" __global__ void elements_alone(const float *in, float *out, int n) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < n; i++) {
            out[i] = .25f * in[i] + .5f * in[i + 1] + .25f * in[i + 2];
        }
    }
}

extern "C" __global__ void elements_threads(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = .25f * in[i] + .5f * in[i + 1] + .25f * in[i + 2];
    }
}

// A thread a column adds up its column.
extern "C" __global__ void columns_alone(const float *__restrict__ in, float *__restrict__ out, int height) {
    float sum = 0;
    for (int y = 0; y < height; y++) {
        sum += in[y * blockDim.x + threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void columns_threads(const float *__restrict__ in, float *__restrict__ out, int height, int width) {
    __shared__ float parts[8];
    float sum = 0;
    for (int y = blockIdx.x * blockDim.x + threadIdx.x; y < height; y += gridDim.x * blockDim.x) {
        sum += in[y * width + blockIdx.y];
    }
    for (int k = 16; k > 0; k /= 2) {
        sum += __shfl_xor_sync(~0u, sum, k);
    }
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++) {
            sum += parts[k];
        }
        atomicAdd(&out[blockIdx.y], sum);
    }
}

// Vertices that were reached last mark the neighbours that nobody has reached, a thread or a warp a vertex; the bound is read anew behind each store.
extern "C" __global__ void reach_alone(const int *neighbours, const int *count, int *reached, bool *more, int most, int level) {
    int vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (reached[vertex] == level) {
        for (int k = 0; k < count[vertex]; k++) {
            int next = neighbours[vertex * most + k];
            if (reached[next] == 0) {
                reached[next] = level + 1;
                *more = true;
            }
        }
    }
}

extern "C" __global__ void reach_lanes(const int *neighbours, const int *count, int *reached, bool *more, int most, int level) {
    int vertex = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (reached[vertex] == level) {
        for (int k = threadIdx.x % 32; k < count[vertex]; k += 32) {
            int next = neighbours[vertex * most + k];
            if (reached[next] == 0) {
                reached[next] = level + 1;
                *more = true;
            }
        }
    }
}

// Prefix sums of rows, by a thread each, which takes the sum from where it has stored it, or by a warp each.
extern "C" __global__ void sums_alone(const int *x, int *y, int n) {
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    y[0] = x[0];
    for (int i = 1; i < n; i++) {
        y[i] = y[i - 1] + x[i];
    }
}

extern "C" __global__ void sums_warp(const int *x, int *y, int n) {
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    int before = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        int sum = x[i];
        for (int by = 1; by < 32; by *= 2) {
            int other = __shfl_up_sync(~0u, sum, by);
            if (threadIdx.x >= by) {
                sum += other;
            }
        }
        y[i] = before + sum;
        before += __shfl_sync(~0u, sum, 31);
    }
}

// A thread a number, in blocks of two sizes on which the code relies.
template <int threads> static __device__ void iterate(const float *x, float *y, int steps) {
    int i = blockIdx.x * threads + threadIdx.x;
    float u = x[i], v = u + .1f, w = u + .2f, t = u - .1f, s = u - .2f, r = u - .3f;
    for (int step = 0; step < steps; step++) {
        u = u * u - .1f;
        v = v * v - .2f;
        w = w * w - .3f;
        t = t * t - .4f;
        s = s * s - .5f;
        r = r * r - .6f;
    }
    y[i] = u + v + w + t + s + r;
}
extern "C" __global__ void iterate_512(const float *x, float *y, int steps) { iterate<512>(x, y, steps); }
extern "C" __global__ void iterate_128(const float *x, float *y, int steps) { iterate<128>(x, y, steps); }

// Four rows of four words a thread, each word behind a test, or as vectors.
static __device__ float bent(float x) { return x > 0 ? x : x * .01f; }

extern "C" __global__ void words_tested(float *x, int height, int width) {
    int row = 4 * threadIdx.y, first = 4 * threadIdx.x;
    x += blockIdx.x * height * width;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            if (row + i < height && first + k < width) {
                x[(row + i) * width + first + k] = bent(x[(row + i) * width + first + k]);
            }
        }
    }
}

extern "C" __global__ void words_together(float *x, int height, int width) {
    int row = 4 * threadIdx.y, first = 4 * threadIdx.x;
    x += blockIdx.x * height * width;
    if (first < width) {
        for (int i = 0; i < 4 && row + i < height; i++) {
            float4 *at = reinterpret_cast<float4 *>(x + (row + i) * width + first), v = *at;
            *at = make_float4(bent(v.x), bent(v.y), bent(v.z), bent(v.w));
        }
    }
}

// The best value of items in a bag, a thread for all cells of the table, a thread a cell of a row, and with a row that the compiler unrolls.
static __device__ void cell(const int *value, const int *weight, int *table, int i, int w, int most) {
    int *now = table + i * (most + 1), *before = now - (most + 1);
    if (i == 0 || w == 0) {
        now[w] = 0;
    } else if (weight[i - 1] <= w) {
        now[w] = max(value[i - 1] + before[w - weight[i - 1]], before[w]);
    } else {
        now[w] = before[w];
    }
}

extern "C" __global__ void bag_alone(const int *value, const int *weight, int *table, int n, int most) {
    for (int i = 0; i <= n; i++) {
        for (int w = 0; w <= most; w++) {
            cell(value, weight, table, i, w, most);
        }
    }
}

extern "C" __global__ void bag_block(const int *value, const int *weight, int *table, int n, int most) {
    for (int i = 0; i <= n; i++) {
        for (int w = threadIdx.x; w <= most; w += blockDim.x) {
            cell(value, weight, table, i, w, most);
        }
        __syncthreads();
    }
}

extern "C" __global__ void bag_unrolled(const int *value, const int *weight, int *best, int n) {
    enum { most = 20 };
    int table[101][most + 1];
    for (int i = 0; i <= n; i++) {
#pragma unroll
        for (int w = 0; w <= most; w++) {
            cell(value, weight, table[0], i, w, most);
        }
    }
    *best = table[n][most];
}

// The mean of a window whose size the compiler does not know, or does.
template <int size> static __device__ void mean(const float *x, float *y, int n, int radius) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y, r = size ? size / 2 : radius;
    if (i < r || j < r || i >= n - r || j >= n - r) {
        return;
    }
    float sum = 0;
    for (int a = -r; a <= r; a++) {
        for (int b = -r; b <= r; b++) {
            sum += x[(i + a) * n + j + b];
        }
    }
    y[i * n + j] = sum / ((2 * r + 1) * (2 * r + 1));
}
extern "C" __global__ void mean_of_any(const float *x, float *y, int n, int radius) { mean<0>(x, y, n, radius); }
extern "C" __global__ void mean_of_five(const float *x, float *y, int n, int radius) { mean<5>(x, y, n, radius); }

// The median of a window by bisection, of which each step reads the window again from shared memory, or has it in registers.
template <int size> static __device__ void median(const float *x, float *y, int n, int radius) {
    __shared__ float tile[256 + 32];
    int i = blockIdx.x * 256 + threadIdx.x, r = size ? size / 2 : radius;
    for (int k = threadIdx.x; k < 256 + 2 * r; k += 256) {
        tile[k] = x[min(max(int(blockIdx.x) * 256 + k - r, 0), n - 1)];
    }
    __syncthreads();
    float window[size ? size : 1];
    if (size) {
        for (int k = 0; k < size; k++) {
            window[k] = tile[threadIdx.x + k];
        }
    }
    float low = 0, high = 1;
    for (int step = 0; step < 10; step++) {
        float middle = (low + high) / 2;
        int above = 0;
        for (int k = 0; k <= 2 * r; k++) {
            above += (size ? window[k] : tile[threadIdx.x + k]) > middle;
        }
        if (above > r) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (i < n) {
        y[i] = low;
    }
}
extern "C" __global__ void median_read(const float *x, float *y, int n, int radius) { median<0>(x, y, n, radius); }
extern "C" __global__ void median_kept(const float *x, float *y, int n, int radius) { median<7>(x, y, n, radius); }
