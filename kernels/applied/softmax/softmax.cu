// softmax turns scores into probabilities, a warp a row: the row is read three times, for its maximum, for the sum of the
// exponentials and for the quotients.
extern "C" __global__ void softmax(const float *scores, float *out, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    const float *in = scores + row * columns;
    float most = -1e30f;
    for (int i = lane; i < columns; i += 32) {
        most = fmaxf(most, in[i]);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, offset));
    }
    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) {
        sum += expf(in[i] - most);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    }
    for (int i = lane; i < columns; i += 32) {
        out[row * columns + i] = expf(in[i] - most) / sum;
    }
}
