// poly_eval evaluates rational functions in double precision for many arguments, four a thread: Horner's scheme for both
// polynomials, whose coefficients all threads read from global memory, and a division.
extern "C" __global__ void poly_eval(const double *x, const double *p, const double *q, double *y, int degree, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) {
        return;
    }
    double v[4], a[4], b[4];
    for (int k = 0; k < 4; k++) {
        v[k] = x[i + k];
        a[k] = p[degree];
        b[k] = q[degree];
    }
    for (int d = degree - 1; d >= 0; d--) {
        double c = p[d], e = q[d];
        for (int k = 0; k < 4; k++) {
            a[k] = a[k] * v[k] + c;
            b[k] = b[k] * v[k] + e;
        }
    }
    for (int k = 0; k < 4; k++) {
        y[i + k] = a[k] / b[k];
    }
}
