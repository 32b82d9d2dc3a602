// Two kernels for the tests of reports: relax has an inlined call, a device function that is not inlined, a loop and a
// constant that is a double by mistake; fill is a kernel whose code section begins at pc 0 like that of relax.

__device__ __forceinline__ float blend(float a, float b)
{
    return 2.0 * a - b;
}

__device__ __noinline__ float damp(float x, int steps)
{
    for (int i = 0; i < steps; ++i)
        x = x * 0.5f + 1.0f / x;
    return x;
}

extern "C" __global__ void relax(const float *in, float *out, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < steps; ++k)
        sum += blend(in[(i + k) % n], sum);
    out[i] = damp(sum, steps);
}

extern "C" __global__ void fill(float *out, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value;
}
