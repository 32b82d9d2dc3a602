// divmod divides integers: signed and unsigned, 32 and 64 bits, quotient and remainder.
// The GPU has no integer division. 32-bit ones become some twenty instructions around a reciprocal, 64-bit ones calls of a
// subroutine in the kernel's own section.
extern "C" __global__ void divmod(const int *a, const int *b, const long long *c, const long long *d, int n, int4 *narrow,
                                  longlong4 *wide) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned ua = a[i], ub = b[i];
    narrow[i] = make_int4(a[i] / b[i], a[i] % b[i], ua / ub, ua % ub);
    unsigned long long uc = c[i], ud = d[i];
    wide[i] = make_longlong4(c[i] / d[i], c[i] % d[i], uc / ud, uc % ud);
}
