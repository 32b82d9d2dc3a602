// mma_types multiplies small matrices of every type of element that the tensor cores of Ampere have, a warp each.

// Fragments are loaded from and stored to global memory as the PTX ISA lays them out. a is in rows, b in columns: both are
// words of elements along the depth.

__device__ int row_of(int upper) { return threadIdx.x / 4 + 8 * upper; }
__device__ int element(int i) { return row_of(i / 2) * 8 + threadIdx.x % 4 * 2 + i % 2; }

// bfloat16
extern "C" __global__ void mma_bf16(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[4], fb[2];
    float sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[row_of(r % 2) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[row_of(0) * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// bfloat16, half the depth
extern "C" __global__ void mma_bf16_k8(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[2], fb[1];
    float sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// tf32: single precision with 11 significant bits
extern "C" __global__ void mma_tf32(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[4], fb[2];
    float sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[row_of(r % 2) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[row_of(0) * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// tf32, half the depth
extern "C" __global__ void mma_tf32_k4(const unsigned *a, const unsigned *b, float *c) {
    unsigned fa[2], fb[1];
    float sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// signed bytes
extern "C" __global__ void mma_s8(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[4], fb[2];
    int sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[row_of(r % 2) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[row_of(0) * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// unsigned by signed bytes, sums clamped
extern "C" __global__ void mma_u8_sat(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[2], fb[1];
    int sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// nibbles
extern "C" __global__ void mma_s4(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[4], fb[2];
    int sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[row_of(r % 2) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[row_of(0) * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// nibbles, half the depth
extern "C" __global__ void mma_s4_k32(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[2], fb[1];
    int sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// bits that both have
extern "C" __global__ void mma_b1_and(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[4], fb[2];
    int sum[4];
    a += blockIdx.x * 128, b += blockIdx.x * 64, c += blockIdx.x * 128;
    for (int r = 0; r < 4; r++) fa[r] = a[row_of(r % 2) * 8 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 2; r++) fb[r] = b[row_of(0) * 8 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// bits that differ
extern "C" __global__ void mma_b1_xor(const unsigned *a, const unsigned *b, int *c) {
    unsigned fa[2], fb[1];
    int sum[4];
    a += blockIdx.x * 64, b += blockIdx.x * 32, c += blockIdx.x * 128;
    for (int r = 0; r < 2; r++) fa[r] = a[row_of(r % 2) * 4 + r / 2 * 4 + threadIdx.x % 4];
    for (int r = 0; r < 1; r++) fb[r] = b[row_of(0) * 4 + r * 4 + threadIdx.x % 4];
    for (int i = 0; i < 4; i++) sum[i] = c[element(i)];
    asm volatile("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fb[0]));
    for (int i = 0; i < 4; i++) c[element(i)] = sum[i];
}

// double precision: of 8 x 4 by 4 x 8
extern "C" __global__ void mma_f64(const double *a, const double *b, double *c) {
    a += blockIdx.x * 32, b += blockIdx.x * 32, c += blockIdx.x * 64;
    double fa = a[row_of(0) * 4 + threadIdx.x % 4], fb = b[row_of(0) * 4 + threadIdx.x % 4];
    double sum[2] = {c[element(0)], c[element(1)]};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(sum[0]), "+d"(sum[1]) : "d"(fa), "d"(fb));
    c[element(0)] = sum[0], c[element(1)] = sum[1];
}
