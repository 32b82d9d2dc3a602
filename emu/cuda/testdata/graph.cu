// Kernels that decide what a graph does next, and one that sleeps.

extern "C" __device__ __cudart_builtin__ void CUDARTAPI cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

extern "C" __global__ void decide(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

extern "C" __global__ void count_down(cudaGraphConditionalHandle handle, int *left, int *rounds)
{
    ++*rounds;
    cudaGraphSetConditional(handle, --*left > 0);
}

extern "C" __device__ __cudart_builtin__ cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);

extern "C" __global__ void start_graph(cudaGraphExec_t graph, cudaStream_t stream, int *result)
{
    *result = cudaGraphLaunch(graph, stream);
}

extern "C" __global__ void nap(int times)
{
    for (int i = 0; i < times; ++i)
        __nanosleep(1000000);
}
