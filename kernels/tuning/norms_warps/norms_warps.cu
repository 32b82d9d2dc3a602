// norms_warps computes the squared lengths of vectors of 32 elements.
// The partner of norms_threads: the block reads neighbouring elements into shared memory, and its threads sum up from there.
extern "C" __global__ void norms_warps(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float tile[128][33];
    int t = threadIdx.x;
    const float *from = in + blockIdx.x * 128 * 32;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        int i = k * 128 + t;
        tile[i / 32][i % 32] = from[i];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        float x = tile[t][k];
        sum = fmaf(x, x, sum);
    }
    out[blockIdx.x * 128 + t] = sum;
}
