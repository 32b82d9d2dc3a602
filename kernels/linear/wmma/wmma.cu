// wmma multiplies matrices on the tensor cores, a warp a tile of 16 x 16: once with sums in single precision, once with
// sums in half precision and both factors in the other layout.
// The fragments are loaded and stored by PTX's wmma instructions, so that the compiler decides which lane holds what.

__device__ unsigned tile_row() { return blockIdx.y * 16; }
__device__ unsigned tile_column() { return blockIdx.x * 16; }

// c += a * b with a in rows and b in columns.
extern "C" __global__ void wmma_f32(const unsigned short *a, const unsigned short *b, float *c, int n) {
    unsigned fa[8], fb[8];
    float sum[8];
    float *tile = c + tile_row() * n + tile_column();
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                 : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3]), "=f"(sum[4]), "=f"(sum[5]), "=f"(sum[6]), "=f"(sum[7])
                 : "l"(tile), "r"(n));
    for (int k = 0; k < n; k += 16) {
        asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]), "=r"(fa[4]), "=r"(fa[5]), "=r"(fa[6]), "=r"(fa[7])
                     : "l"(a + tile_row() * n + k), "r"(n));
        asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]), "=r"(fb[4]), "=r"(fb[5]), "=r"(fb[6]), "=r"(fb[7])
                     : "l"(b + tile_column() * n + k), "r"(n));
        asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, "
                     "{%8,%9,%10,%11,%12,%13,%14,%15}, {%16,%17,%18,%19,%20,%21,%22,%23}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]), "+f"(sum[7])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fa[4]), "r"(fa[5]), "r"(fa[6]), "r"(fa[7]),
                       "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]), "r"(fb[4]), "r"(fb[5]), "r"(fb[6]), "r"(fb[7]));
    }
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%2,%3,%4,%5,%6,%7,%8,%9}, %1;"
                 :: "l"(tile), "r"(n), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3]), "f"(sum[4]), "f"(sum[5]), "f"(sum[6]), "f"(sum[7])
                 : "memory");
}

// d = a * b with a in columns and b in rows.
extern "C" __global__ void wmma_f16(const unsigned short *a, const unsigned short *b, unsigned short *d, int n) {
    unsigned fa[8], fb[8], sum[4] = {0, 0, 0, 0};
    for (int k = 0; k < n; k += 16) {
        asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3]), "=r"(fa[4]), "=r"(fa[5]), "=r"(fa[6]), "=r"(fa[7])
                     : "l"(a + k * n + tile_row()), "r"(n));
        asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8], %9;"
                     : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3]), "=r"(fb[4]), "=r"(fb[5]), "=r"(fb[6]), "=r"(fb[7])
                     : "l"(b + k * n + tile_column()), "r"(n));
        asm volatile("wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15,%16,%17,%18,%19}, {%0,%1,%2,%3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fa[4]), "r"(fa[5]), "r"(fa[6]), "r"(fa[7]),
                       "r"(fb[0]), "r"(fb[1]), "r"(fb[2]), "r"(fb[3]), "r"(fb[4]), "r"(fb[5]), "r"(fb[6]), "r"(fb[7]));
    }
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%0], {%2,%3,%4,%5}, %1;"
                 :: "l"(d + tile_row() * n + tile_column()), "r"(n), "r"(sum[0]), "r"(sum[1]), "r"(sum[2]), "r"(sum[3])
                 : "memory");
}
