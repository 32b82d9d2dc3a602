// Powers whose exponents the code names, and some that are not whole or not named. Built for sm_80 by NVRTC 12.9 with -lineinfo.
extern "C" __global__ void square_floats(const float *x, float *y) {
    int i = threadIdx.x;
    y[i] = powf(x[i], 2.0f) +
           powf(x[i + 32], 5.0f);
}

extern "C" __global__ void cube_doubles(const double *x, double *y) {
    int i = threadIdx.x;
    y[i] = pow(x[i], 3.0);
}

extern "C" __global__ void two_exponents(const double *x, double *y) {
    int i = threadIdx.x;
    y[i] = pow(x[i], 12.0) - pow(x[i], -6.0);
}

extern "C" __global__ void unknown_exponents(const double *x, const float *e, double *y, float *z) {
    int i = threadIdx.x;
    y[i] = pow(x[i], (double)e[i]);
    z[i] = powf(e[i], e[i + 32]);
}

extern "C" __global__ void broken_exponents(const double *x, const float *v, double *y, float *z) {
    int i = threadIdx.x;
    y[i] = pow(x[i], 1.4);
    z[i] = powf(v[i], 2.2f);
}
