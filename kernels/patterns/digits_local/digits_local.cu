// digits_local counts the octal digits of numbers, a thread a row of 16.
// The counts of a thread are indexed at run time and so lie in local memory. Its partner is digits_registers.
extern "C" __global__ void digits_local(const unsigned *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int counts[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int k = 0; k < 16; k++) {
        unsigned v = in[k * n + i];
        for (int place = 0; place < 8; place++) {
            int digit = v % 8;
            counts[digit]++;
            v /= 8;
        }
    }
#pragma unroll
    for (int d = 0; d < 8; d++) {
        out[d * n + i] = counts[d];
    }
}
