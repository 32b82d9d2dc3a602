// tridiagonal solves many small systems with the Thomas algorithm, a system a thread: a chain of divisions down the
// diagonal and of products back up. The systems are interleaved, so that a warp reads a row of all of them together.
extern "C" __global__ void tridiagonal(const float *lower, const float *diagonal, float *upper, float *x, int systems, int rows) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= systems) {
        return;
    }
    float c = upper[s] / diagonal[s], d = x[s] / diagonal[s];
    upper[s] = c;
    x[s] = d;
    for (int i = 1; i < rows; i++) {
        int at = i * systems + s;
        float m = 1.0f / (diagonal[at] - lower[at] * c);
        c = upper[at] * m;
        d = (x[at] - lower[at] * d) * m;
        upper[at] = c;
        x[at] = d;
    }
    for (int i = rows - 2; i >= 0; i--) {
        int at = i * systems + s;
        d = x[at] - upper[at] * d;
        x[at] = d;
    }
}
