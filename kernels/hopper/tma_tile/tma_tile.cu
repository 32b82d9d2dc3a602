// Tiles of a matrix, copied by the copy engine into shared memory swizzled by 128 bytes, with an edge that lies outside the matrix; each
// thread adds 1 to elements that it finds by the swizzle, and the copy engine stores the tiles, without a swizzle, in another matrix.
using u32 = unsigned;
using u64 = unsigned long long;
struct __align__(64) TensorMap { unsigned char data[128]; };

static __device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

extern "C" __global__ void __launch_bounds__(128)
tma_tile(const __grid_constant__ TensorMap from, const __grid_constant__ TensorMap to) {
    __shared__ __align__(1024) float in[16][32], out[16][32];
    __shared__ __align__(8) u64 barrier;
    u32 b = address(&barrier), t = threadIdx.x;
    int x = 32 * blockIdx.x - 4, y = 16 * blockIdx.y;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 2048;" ::"r"(b) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                         address(in)),
                     "l"(&from), "r"(x), "r"(y), "r"(b)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra wait; }" ::"r"(b) : "memory");
    for (u32 i = t; i < 512; i += 128) {
        u32 a = address(in) + 4 * i;
        a ^= (a >> 7 & 7) << 4;
        float v;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(a));
        out[i / 32][i % 32] = v + 1;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(x), "r"(y), "r"(address(out))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
