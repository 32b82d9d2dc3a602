// rolling_score tells how far each value of a series is from the mean of the 32 before it, in standard deviations: a tile with its
// run-up in shared memory.
#define WINDOW 32

extern "C" __global__ void rolling_score(const float *in, float *out, int n) {
    __shared__ float tile[128 + WINDOW];
    int base = blockIdx.x * 128, t = threadIdx.x;
    for (int i = t; i < 128 + WINDOW; i += 128) {
        int from = base + i - WINDOW;
        tile[i] = from >= 0 && from < n ? in[from] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f, squares = 0.0f;
    for (int k = 0; k < WINDOW; k++) {
        float v = tile[t + k];
        sum += v;
        squares += v * v;
    }
    float mean = sum / WINDOW, variance = squares / WINDOW - mean * mean + 0.01f;
    if (base + t < n) {
        out[base + t] = (tile[t + WINDOW] - mean) * rsqrtf(variance);
    }
}
