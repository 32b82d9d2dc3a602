// halves_mma multiplies matrices in half precision, a of columns and b of rows, a tile of 64 x 64 a block.
// The partner of halves_fma: each of the eight warps adds up 16 x 32 elements on the tensor cores.
#include <cuda_fp16.h>

const int TILE = 64, SLAB = 32, ROW = TILE + 16; // of shared memory: the padding keeps the fragments free of bank conflicts

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

extern "C" __global__ void halves_mma(const __half *__restrict__ a, const __half *__restrict__ b, __half *__restrict__ c, int n, int depth) {
    __shared__ __align__(32) __half a_tile[SLAB][ROW], b_tile[SLAB][ROW];
    int row = threadIdx.x / 8, column = threadIdx.x % 8 * 8;
    int warp = threadIdx.x / 32, y = warp % 4 * 16, x = warp / 4 * 32;
    unsigned left[8], right[8], sum[2][4] = {};
    for (int k0 = 0; k0 < depth; k0 += SLAB) {
        *(uint4 *)&a_tile[row][column] = *(const uint4 *)&a[(k0 + row) * n + blockIdx.y * TILE + column];
        *(uint4 *)&b_tile[row][column] = *(const uint4 *)&b[(k0 + row) * n + blockIdx.x * TILE + column];
        __syncthreads();
        for (int k = 0; k < SLAB; k += 16) {
            asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                         : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3]), "=r"(left[4]), "=r"(left[5]), "=r"(left[6]), "=r"(left[7])
                         : "r"(shared_address(&a_tile[k][y])), "r"(ROW));
            for (int j = 0; j < 2; j++) {
                asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                             : "=r"(right[0]), "=r"(right[1]), "=r"(right[2]), "=r"(right[3]), "=r"(right[4]), "=r"(right[5]), "=r"(right[6]), "=r"(right[7])
                             : "r"(shared_address(&b_tile[k][x + j * 16])), "r"(ROW));
                asm volatile("wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16 {%0,%1,%2,%3}, "
                             "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15,%16,%17,%18,%19}, {%0,%1,%2,%3};"
                             : "+r"(sum[j][0]), "+r"(sum[j][1]), "+r"(sum[j][2]), "+r"(sum[j][3])
                             : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(left[4]), "r"(left[5]), "r"(left[6]), "r"(left[7]),
                               "r"(right[0]), "r"(right[1]), "r"(right[2]), "r"(right[3]), "r"(right[4]), "r"(right[5]), "r"(right[6]), "r"(right[7]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++) {
        asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%0], {%2,%3,%4,%5}, %1;"
                     :: "l"(c + (blockIdx.y * TILE + y) * n + blockIdx.x * TILE + x + j * 16), "r"(n), "r"(sum[j][0]), "r"(sum[j][1]), "r"(sum[j][2]), "r"(sum[j][3])
                     : "memory");
    }
}
