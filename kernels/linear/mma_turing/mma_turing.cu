// mma_turing multiplies small matrices of every type of element that the tensor cores of Turing have, a warp each.

// Fragments are loaded from and stored to global memory as the PTX ISA lays them out. a is in rows, b in columns: both are
// words of elements along the depth.

__device__ int row_of(int upper) { return threadIdx.x / 4 + 8 * upper; }
__device__ int element(int i) { return row_of(i / 2) * 8 + threadIdx.x % 4 * 2 + i % 2; }

// halves, sums in single precision
extern "C" __global__ void mma_f16_k8(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[2], fb[1];
    float sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// signed by unsigned bytes, sums clamped
extern "C" __global__ void mma_small_s8(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[1], fb[1];
    int sum[2];
    a += blockIdx.x * 32, b += blockIdx.x * 32, c += blockIdx.x * 64;
    for (int r = 0; r < 1; r++) fa[r] = a[row_of(r % 1) * 4 + r / 1 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 2; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(fa[0]), "r"(fb[0]));
    for (int i = 0; i < 2; i++) c[element(i)] = sum[i];
}

// nibbles
extern "C" __global__ void mma_small_s4(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[1], fb[1];
    int sum[2];
    a += blockIdx.x * 32, b += blockIdx.x * 32, c += blockIdx.x * 64;
    for (int r = 0; r < 1; r++) fa[r] = a[row_of(r % 1) * 4 + r / 1 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 2; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(fa[0]), "r"(fb[0]));
    for (int i = 0; i < 2; i++) c[element(i)] = sum[i];
}

// bits that differ
extern "C" __global__ void mma_small_b1(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[1], fb[1];
    int sum[2];
    a += blockIdx.x * 32, b += blockIdx.x * 32, c += blockIdx.x * 64;
    for (int r = 0; r < 1; r++) fa[r] = a[row_of(r % 1) * 4 + r / 1 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 2; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+r"(sum[0]), "+r"(sum[1])
                 : "r"(fa[0]), "r"(fb[0]));
    for (int i = 0; i < 2; i++) c[element(i)] = sum[i];
}
