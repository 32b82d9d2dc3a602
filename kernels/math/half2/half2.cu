// half2 evaluates a polynomial and some elementwise functions on pairs of half-precision numbers.
// One instruction works on both halves of a register. The polynomial's operations round once each and compare exactly; the
// reciprocal and square root go through single-precision approximations.
#include <cuda_fp16.h>

extern "C" __global__ void half2_functions(const __half2 *x, const __half2 *y, __half2 *polynomial, __half2 *selected,
                                           __half2 *approximate, int pairs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) {
        return;
    }
    __half2 a = x[i], b = y[i];
    __half2 p = __float2half2_rn(0.0625f);
    p = __hfma2(p, a, __float2half2_rn(-0.25f));
    p = __hfma2(p, a, __float2half2_rn(0.5f));
    p = __hfma2(p, a, b);
    polynomial[i] = __hadd2(__hmul2_rn(p, b), __lowhigh2highlow(a));
    __half2 larger = __hgt2(a, b); // 1 or 0 in each half
    __half2 mix = __hfma2(larger, __hsub2(a, b), b);
    selected[i] = __hadd2_sat(mix, __hneg2(__habs2(b)));
    approximate[i] = __hadd2(h2rcp(b), h2sqrt(__habs2(a)));
}
