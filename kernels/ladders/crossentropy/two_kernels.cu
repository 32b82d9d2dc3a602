// Cross entropy of rows of logits, version 1 of 4: the softmax of all logits, then the logarithms of the targets'
// probabilities
__device__ float reduce(float v, bool sums) {
    __shared__ float shared[256];
    int t = threadIdx.x;
    shared[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) {
            shared[t] = sums ? shared[t] + shared[t + s] : fmaxf(shared[t], shared[t + s]);
        }
        __syncthreads();
    }
    v = shared[0];
    __syncthreads();
    return v;
}

extern "C" __global__ void softmax(const float *logits, float *probabilities, int cols) {
    int row = blockIdx.x * cols;
    float largest = -3.4e38f, sum = 0;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, logits[row + i]);
    }
    largest = reduce(largest, false);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += expf(logits[row + i] - largest);
    }
    sum = reduce(sum, true);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        probabilities[row + i] = expf(logits[row + i] - largest) / sum;
    }
}

extern "C" __global__ void loss(const float *probabilities, const int *targets, float *losses, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    losses[row] = -logf(probabilities[row * cols + targets[row]]);
}
