// Sums of the columns of a matrix, as for the gradient of a bias, version 4 of 4: four columns a thread, 16 bytes a
// load
extern "C" __global__ void colsum(const float4 *in, float *out, int rows, int cols) {
    __shared__ float4 sums[8][32];
    int col = blockIdx.x * 32 + threadIdx.x, part = rows / gridDim.y, end = (blockIdx.y + 1) * part;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int row = blockIdx.y * part + threadIdx.y; row < end; row += 8) {
        float4 v = in[row * (cols / 4) + col];
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int y = 1; y < 8; y++) {
            float4 v = sums[y][threadIdx.x];
            sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
        }
        atomicAdd(&out[4 * col], sum.x);
        atomicAdd(&out[4 * col + 1], sum.y);
        atomicAdd(&out[4 * col + 2], sum.z);
        atomicAdd(&out[4 * col + 3], sum.w);
    }
}
