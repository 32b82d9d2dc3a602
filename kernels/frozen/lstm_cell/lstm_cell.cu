// lstm_cell takes a step of a long short-term memory: four gates from pre-activations and biases, sigmoids and hyperbolic
// tangents by the fast exponential, a new cell and output.
__device__ __forceinline__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + __expf(-x)); }

extern "C" __global__ void lstm_cell(const float *gates, const float *bias, const float *cell, float *next, float *out, int hidden, int batch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= hidden * batch) {
        return;
    }
    int b = i / hidden, h = i % hidden;
    const float *g = gates + b * 4 * hidden;
    float in = sigmoid(g[h] + bias[h]);
    float forget = sigmoid(g[hidden + h] + bias[hidden + h]);
    float value = 2.0f * sigmoid(2.0f * (g[2 * hidden + h] + bias[2 * hidden + h])) - 1.0f;
    float show = sigmoid(g[3 * hidden + h] + bias[3 * hidden + h]);
    float c = forget * cell[i] + in * value;
    next[i] = c;
    out[i] = show * (2.0f * sigmoid(2.0f * c) - 1.0f);
}
