// printf prints with the conversions of C, from lanes of two warps that take turns, and keeps what the calls return.
// The text is in expected.txt. Barriers fix the order of the warps; within a warp the lanes print one after another.
__device__ const char *const names[3] = {"zero", "one", ""};

extern "C" __global__ void printf_formats(const int *whole, const double *real, int *returned) {
    int t = threadIdx.x;
    for (int turn = 0; turn < 2; turn++) {
        if (t / 32 == turn && t % 32 < 3) {
            int v = whole[t];
            float single = (float)real[t];
            int count = printf("thread %d: [%5d|%-5d|%05d|%+d] %u %x %#X %o\n", t, v, v, v, v, v, v, v, v);
            count += 100 * printf("  %c '%s' '%6s' '%-6.2s' 100%%\n", 'a' + t % 26, names[t % 3], names[t % 3], names[t % 3]);
            count += 10000 * printf("  %f %.3f %12.4e %g %G %a\n", real[t], single, real[t], real[t], real[t] * 1e-7, single);
            printf("  %lld %llu %llx %ld %hd %*d\n", v * 1000000000000ll, ~0ull - t, 0x123456789abcdefull << t % 4, (long)v, (short)v,
                   7, v);
            returned[t] = count;
        }
        __syncthreads();
    }
    if (t == 63) {
        returned[t] = printf("done\n");
    }
}
