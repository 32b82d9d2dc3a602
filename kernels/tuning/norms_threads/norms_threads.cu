// norms_threads computes the squared lengths of vectors of 32 elements.
// A thread has a vector, so that the threads of a warp read from 32 lines at a time.
extern "C" __global__ void norms_threads(const float *__restrict__ in, float *__restrict__ out) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < 32; k++) {
        float x = in[v * 32 + k];
        sum = fmaf(x, x, sum);
    }
    out[v] = sum;
}
