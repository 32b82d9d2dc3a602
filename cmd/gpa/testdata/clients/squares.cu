// A program of the CUDA runtime: a template, constant and managed memory, two streams and an event. Prints what it has found.
#include <cstdio>
#include <cstdlib>
#include <vector>

__constant__ float offset;

template <typename T> __global__ void squares(const T *in, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[i] + T(offset);
}

static void ask(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        std::exit(3);
    }
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    const float three = 3;
    ask(cudaMemcpyToSymbol(offset, &three, sizeof three));
    std::vector<float> host(n);
    for (int i = 0; i < n; i++) host[i] = float(i % 100);
    float *in, *out;
    ask(cudaMalloc(&in, n * sizeof *in));
    ask(cudaMallocManaged(&out, n * sizeof *out));
    cudaStream_t first, second;
    cudaEvent_t copied;
    ask(cudaStreamCreate(&first));
    ask(cudaStreamCreate(&second));
    ask(cudaEventCreate(&copied));
    ask(cudaMemcpyAsync(in, host.data(), n * sizeof *in, cudaMemcpyHostToDevice, first));
    ask(cudaEventRecord(copied, first));
    ask(cudaStreamWaitEvent(second, copied, 0));
    squares<<<(n + 127) / 128, 128, 0, second>>>(in, out, n);
    ask(cudaGetLastError());
    ask(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += out[i] != host[i] * host[i] + 3;
    std::printf("%d squares, %d wrong\n", n, wrong);
    return wrong != 0;
}
