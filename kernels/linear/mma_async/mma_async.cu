// mma_async multiplies matrices of halves as libraries for Ampere do: tiles come into shared memory by cp.async, two stages
// ahead of each other, ldmatrix brings them into registers, those of b transposed, and mma multiplies.
// A block of four warps computes 64 x 64 of c, a warp 16 rows of it.

const int TILE = 64, DEPTH = 32;   // of a stage
const int ROW_A = DEPTH + 8;       // halves of a row in shared memory: the padding keeps ldmatrix free of bank conflicts
const int ROW_B = TILE + 8;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ void copy16(unsigned to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(from) : "memory");
}

__device__ void load_stage(unsigned a_tile, unsigned b_tile, const unsigned short *a, const unsigned short *b, int n, int k) {
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += blockDim.x) {
        int row = i / (DEPTH / 8), part = i % (DEPTH / 8);
        copy16(a_tile + (row * ROW_A + part * 8) * 2, a + (blockIdx.y * TILE + row) * n + k + part * 8);
    }
    for (int i = threadIdx.x; i < DEPTH * TILE / 8; i += blockDim.x) {
        int row = i / (TILE / 8), part = i % (TILE / 8);
        copy16(b_tile + (row * ROW_B + part * 8) * 2, b + (k + row) * n + blockIdx.x * TILE + part * 8);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(128) mma_async(const unsigned short *a, const unsigned short *b, float *c, int n) {
    __shared__ __align__(16) unsigned short a_tiles[2][TILE * ROW_A], b_tiles[2][DEPTH * ROW_B];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum[8][4] = {};
    load_stage(shared_address(a_tiles[0]), shared_address(b_tiles[0]), a, b, n, 0);
    for (int k = 0, stage = 0; k < n; k += DEPTH, stage ^= 1) {
        if (k + DEPTH < n) {
            load_stage(shared_address(a_tiles[stage ^ 1]), shared_address(b_tiles[stage ^ 1]), a, b, n, k + DEPTH);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int step = 0; step < DEPTH; step += 16) {
            unsigned fa[4], fb[2];
            unsigned from = shared_address(&a_tiles[stage][(warp * 16 + lane % 16) * ROW_A + step + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]) : "r"(from));
            for (int j = 0; j < 8; j++) {
                from = shared_address(&b_tiles[stage][(step + lane % 16) * ROW_B + j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(fb[0]), "=r"(fb[1]) : "r"(from));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(sum[j][0]), "+f"(sum[j][1]), "+f"(sum[j][2]), "+f"(sum[j][3])
                             : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++) {
        for (int i = 0; i < 4; i++) {
            int row = blockIdx.y * TILE + warp * 16 + lane / 4 + i / 2 * 8, column = blockIdx.x * TILE + j * 8 + lane % 4 * 2 + i % 2;
            c[row * n + column] = sum[j][i];
        }
    }
}
