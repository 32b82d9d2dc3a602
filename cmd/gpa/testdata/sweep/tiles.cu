// c = a b for square matrices of n x n: a block computes BM x BN elements of c, in steps of BK, and each thread TM x TN of them in registers.
// The macros are the axes of tiles.yaml; n is a multiple of all tiles.
extern "C" __global__ void __launch_bounds__((BM / TM) * (BN / TN)) tiles(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int n, int depth)
{
    __shared__ float as[BK][BM + 1];
    __shared__ float bs[BK][BN];
    const int threads = (BM / TM) * (BN / TN), columns = BN / TN;
    const int me = threadIdx.x, row = me / columns, column = me % columns;
    const float *from_a = a + blockIdx.y * BM * depth, *from_b = b + blockIdx.x * BN;
    float sum[TM][TN] = {};
    for (int k = 0; k < depth; k += BK) {
        for (int i = me; i < BM * BK; i += threads)
            as[i % BK][i / BK] = from_a[i / BK * depth + k + i % BK];
        for (int i = me; i < BK * BN; i += threads)
            bs[i / BN][i % BN] = from_b[(k + i / BN) * n + i % BN];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < BK; j++) {
            float x[TM], y[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                x[i] = as[j][row + i * (BM / TM)];
#pragma unroll
            for (int i = 0; i < TN; i++)
                y[i] = bs[j][column + i * columns];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int l = 0; l < TN; l++)
                    sum[i][l] += x[i] * y[l];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int l = 0; l < TN; l++)
            c[(blockIdx.y * BM + row + i * (BM / TM)) * n + blockIdx.x * BN + column + l * columns] = sum[i][l];
}
