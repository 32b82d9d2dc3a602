// Kernels of which one computes what the next one needs, and both as one by hand: what a what-if run supposes of the first two is held against the
// third (fusion_test.go). Compiled by NVRTC 12.9 for sm_80 with -lineinfo.

// A product whose second matrix is windows of an image, spread out first or found as they are needed.
const int SIDE = 64, WINDOW = 3, CHANNELS = 8, DEPTH = CHANNELS * WINDOW * WINDOW, PLACES = SIDE * SIDE, FILTERS = 32, TILE = 16;

__device__ float windowed(const float *image, int row, int place) {
    int channel = row / (WINDOW * WINDOW), dy = row / WINDOW % WINDOW - 1, dx = row % WINDOW - 1;
    int y = place / SIDE + dy, x = place % SIDE + dx;
    return y >= 0 && y < SIDE && x >= 0 && x < SIDE ? image[(channel * SIDE + y) * SIDE + x] : 0;
}

extern "C" __global__ void spread(const float *__restrict__ image, float *__restrict__ columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < DEPTH * PLACES) {
        columns[i] = windowed(image, i / PLACES, i % PLACES);
    }
}

template <bool SPREAD>
__device__ void product(const float *weights, const float *from, float *out) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < DEPTH; k += TILE) {
        int across = k + threadIdx.x, down = k + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = across < DEPTH ? weights[y * DEPTH + across] : 0;
        b[threadIdx.y][threadIdx.x] = down < DEPTH ? (SPREAD ? from[down * PLACES + x] : windowed(from, down, x)) : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        }
        __syncthreads();
    }
    out[y * PLACES + x] = sum;
}

extern "C" __global__ void multiply(const float *__restrict__ weights, const float *__restrict__ columns, float *__restrict__ out) { product<true>(weights, columns, out); }
extern "C" __global__ void project(const float *__restrict__ weights, const float *__restrict__ columns, float *__restrict__ out) { product<true>(weights, columns, out); }
extern "C" __global__ void convolve(const float *__restrict__ weights, const float *__restrict__ image, float *__restrict__ out) { product<false>(weights, image, out); }

// A product and a function of its elements.
__device__ float swish(float x) { return x / (1 + __expf(-x)); }

extern "C" __global__ void activate(const float *__restrict__ in, const float *__restrict__ bias, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < FILTERS * PLACES) {
        out[i] = swish(in[i] + bias[i / PLACES]);
    }
}

extern "C" __global__ void project_activate(const float *__restrict__ weights, const float *__restrict__ columns, const float *__restrict__ bias, float *__restrict__ out) {
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < DEPTH; k += TILE) {
        int across = k + threadIdx.x, down = k + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = across < DEPTH ? weights[y * DEPTH + across] : 0;
        b[threadIdx.y][threadIdx.x] = down < DEPTH ? columns[down * PLACES + x] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) {
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        }
        __syncthreads();
    }
    out[y * PLACES + x] = swish(sum + bias[y]);
}

// A step of diffusion, and what reacts in each cell.
const int WIDTH = 512, HEIGHT = 512, CELLS = WIDTH * HEIGHT;

__device__ float diffused(const float *u, int x, int y) {
    int left = max(x - 1, 0), right = min(x + 1, WIDTH - 1), up = max(y - 1, 0), down = min(y + 1, HEIGHT - 1);
    float own = u[y * WIDTH + x];
    return own + .2f * (u[y * WIDTH + left] + u[y * WIDTH + right] + u[up * WIDTH + x] + u[down * WIDTH + x] - 4 * own);
}

__device__ void reacted(float u, float w, float &u2, float &w2) {
    u2 = u + .05f * (u * (1 - u) * (u - .1f) - w);
    w2 = w + .05f * .01f * (.5f * u - w);
}

extern "C" __global__ void diffuse(const float *__restrict__ u, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * WIDTH + x] = diffused(u, x, y);
}

extern "C" __global__ void react(const float *__restrict__ u, const float *__restrict__ w, float *__restrict__ u2, float *__restrict__ w2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CELLS) {
        reacted(u[i], w[i], u2[i], w2[i]);
    }
}

extern "C" __global__ void diffuse_react(const float *__restrict__ u, const float *__restrict__ w, float *__restrict__ u2, float *__restrict__ w2) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * WIDTH + x;
    reacted(diffused(u, x, y), w[i], u2[i], w2[i]);
}

// What is done to each sample of a row, and the sum over the row.
const int ROW = 1024, ROWS = 512;

__device__ float weighed(float x, float weight) { return x > 0 ? x * weight : .01f * x; }

extern "C" __global__ void weigh(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROW * ROWS) {
        out[i] = weighed(in[i], weights[i % ROW]);
    }
}

__device__ void summed(float sum, float *out) {
    __shared__ float part[4];
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_down_sync(~0u, sum, d);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
    }
}

extern "C" __global__ void sum_rows(const float *__restrict__ in, float *__restrict__ out) {
    float sum = 0;
    for (int i = threadIdx.x; i < ROW; i += 128) {
        sum += in[blockIdx.x * ROW + i];
    }
    summed(sum, out);
}

extern "C" __global__ void weigh_sum(const float *__restrict__ in, const float *__restrict__ weights, float *__restrict__ out) {
    float sum = 0;
    for (int i = threadIdx.x; i < ROW; i += 128) {
        sum += weighed(in[blockIdx.x * ROW + i], weights[i]);
    }
    summed(sum, out);
}

// Two functions of elements, by blocks of other shapes.
extern "C" __global__ void clip(const float *__restrict__ in, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CELLS) {
        out[i] = fmaxf(in[i], 0);
    }
}

extern "C" __global__ void squash(const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < WIDTH && y < HEIGHT) {
        out[y * WIDTH + x] = swish(in[y * WIDTH + x]);
    }
}

extern "C" __global__ void clip_squash(const float *__restrict__ in, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CELLS) {
        out[i] = swish(fmaxf(in[i], 0));
    }
}

// The nearest of some centres to each point, and sums by centre.
const int POINTS = 65536, CENTRES = 24;

__device__ int nearest(float x, float y, const float *centres) {
    int best = 0;
    float least = 1e30f;
    for (int k = 0; k < CENTRES; k++) {
        float dx = x - centres[2 * k], dy = y - centres[2 * k + 1], d = dx * dx + dy * dy;
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

extern "C" __global__ void assign(const float *__restrict__ xs, const float *__restrict__ ys, const float *__restrict__ centres, int *__restrict__ labels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < POINTS) {
        labels[i] = nearest(xs[i], ys[i], centres);
    }
}

__device__ void added(float x, float y, int label, float *part, float *sums) {
    atomicAdd(&part[label], x);
    atomicAdd(&part[CENTRES + label], y);
    atomicAdd(&part[2 * CENTRES + label], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 3 * CENTRES; k += blockDim.x) {
        atomicAdd(&sums[k], part[k]);
    }
}

extern "C" __global__ void update(const float *__restrict__ xs, const float *__restrict__ ys, const int *__restrict__ labels, float *__restrict__ sums) {
    __shared__ float part[3 * CENTRES];
    for (int k = threadIdx.x; k < 3 * CENTRES; k += blockDim.x) {
        part[k] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    added(xs[i], ys[i], labels[i], part, sums);
}

extern "C" __global__ void assign_update(const float *__restrict__ xs, const float *__restrict__ ys, const float *__restrict__ centres, float *__restrict__ sums) {
    __shared__ float part[3 * CENTRES];
    for (int k = threadIdx.x; k < 3 * CENTRES; k += blockDim.x) {
        part[k] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = xs[i], y = ys[i];
    added(x, y, nearest(x, y, centres), part, sums);
}

// A function of pixels, and the steepness of what comes out.
__device__ float brightened(const float *in, int x, int y) {
    float v = in[min(max(y, 0), HEIGHT - 1) * WIDTH + min(max(x, 0), WIDTH - 1)];
    return v * v * (3 - 2 * v);
}

__device__ float pixel(const float *in, int x, int y) { return in[min(max(y, 0), HEIGHT - 1) * WIDTH + min(max(x, 0), WIDTH - 1)]; }

extern "C" __global__ void brighten(const float *__restrict__ in, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    out[i] = v * v * (3 - 2 * v);
}

extern "C" __global__ void slope(const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float across = pixel(in, x + 1, y) - pixel(in, x - 1, y), down = pixel(in, x, y + 1) - pixel(in, x, y - 1);
    out[y * WIDTH + x] = sqrtf(across * across + down * down);
}

extern "C" __global__ void brighten_slope(const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float across = brightened(in, x + 1, y) - brightened(in, x - 1, y), down = brightened(in, x, y + 1) - brightened(in, x, y - 1);
    out[y * WIDTH + x] = sqrtf(across * across + down * down);
}

// What needs more than one block of a product has stored, and what adds to what the kernel before has stored.
extern "C" __global__ void sum_columns(const float *__restrict__ in, float *__restrict__ out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int y = 0; y < FILTERS; y++) {
        sum += in[y * PLACES + x];
    }
    out[x] = sum;
}

extern "C" __global__ void count(const int *__restrict__ labels, float *__restrict__ sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sums[labels[i]], 1);
}

extern "C" __global__ void share(const float *__restrict__ sums, const int *__restrict__ labels, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sums[labels[i]];
}
