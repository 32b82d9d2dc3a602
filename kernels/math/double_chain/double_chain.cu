// double_chain evaluates double-precision functions in a dependent chain: division, square root, exponential, logarithm.
// Each is a sequence of fused multiply-adds around a 20-bit approximation, on a pipe of half the single-precision width.
extern "C" __global__ void double_chain(const double *in, double *out, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    double v = in[i];
    for (int r = 0; r < rounds; r++) {
        double root = sqrt(v * v + 1.0);
        double ratio = v / root;
        v = log(2.0 + exp(-ratio)) + ratio * rsqrt(root);
    }
    out[i] = v;
}
