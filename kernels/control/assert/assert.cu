// assert checks its input with device-side assertions, and doubles it.
// launch.yaml satisfies them; launch.fail.yaml lets the assertion fail in one thread, which ends the kernel.
extern "C" __global__ void assert_within(const int *in, int *out, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        assert(in[i] >= 0 && in[i] < limit);
        out[i] = 2 * in[i];
    }
}
