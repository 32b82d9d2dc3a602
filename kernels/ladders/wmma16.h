// Tensor cores by PTX's wmma instructions: tiles of 16 by 16 halves in rows, sums in single precision. A warp works on a tile.
#include <cuda_fp16.h>

__device__ void load_a(unsigned (&f)[8], const half *tile, int pitch) {
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]), "=r"(f[4]), "=r"(f[5]), "=r"(f[6]), "=r"(f[7]) : "l"(tile), "r"(pitch) : "memory");
}

__device__ void load_b(unsigned (&f)[8], const half *tile, int pitch) {
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]), "=r"(f[4]), "=r"(f[5]), "=r"(f[6]), "=r"(f[7]) : "l"(tile), "r"(pitch) : "memory");
}

__device__ void multiply_add(float (&sum)[8], const unsigned (&a)[8], const unsigned (&b)[8]) {
    asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
                 "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]),
                   "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
}

__device__ void store(float *tile, const float (&sum)[8], int pitch) {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%2,%3,%4,%5,%6,%7,%8,%9}, %1;"
                 :: "l"(tile), "r"(pitch), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7]) : "memory");
}
