// fft_shared transforms rows of 512 complex numbers in shared memory, a block a row: bit-reversed loads, nine stages of
// butterflies with a barrier each, twiddle factors from a table in global memory.
#define N 512

extern "C" __global__ void fft_shared(const float2 *in, const float2 *twiddle, float2 *out) {
    __shared__ float2 s[N];
    const float2 *row = in + blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        s[__brev(i) >> 23] = row[i];
    }
    for (int half = 1; half < N; half *= 2) {
        __syncthreads();
        int k = threadIdx.x & (half - 1);
        int low = 2 * (threadIdx.x - k) + k;
        float2 w = twiddle[k * (N / 2 / half)];
        float2 a = s[low], b = s[low + half];
        float re = w.x * b.x - w.y * b.y, im = w.x * b.y + w.y * b.x;
        s[low] = make_float2(a.x + re, a.y + im);
        s[low + half] = make_float2(a.x - re, a.y - im);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x) {
        out[blockIdx.x * N + i] = s[i];
    }
}
