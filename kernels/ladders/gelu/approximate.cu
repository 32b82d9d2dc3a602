// Bias and GELU of a layer's outputs, version 3 of 4: the hyperbolic tangent by an approximate exponential and
// division; a mask for the columns
#include "digest.h"

extern "C" __global__ void gelu(const float *in, const float *bias, float *out, int n, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = in[i] + bias[i & mask];
        float cube = 0.044715f * x * x * x;
        out[i] = __fdividef(x, 1.0f + __expf(-2 * 0.7978845608f * (x + cube)));
    }
}
