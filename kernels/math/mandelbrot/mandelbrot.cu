// mandelbrot counts the iterations until points leave the Mandelbrot set.
// Neighbouring points take different numbers of iterations, so a warp runs as long as its slowest lane. Operations are
// rounded one by one and fused only where written so, which makes the counts the same on every IEEE machine.
extern "C" __global__ void mandelbrot(int *counts, int width, int height, float left, float top, float step, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float cr = fmaf(x, step, left);
    float ci = fmaf(y, step, top);
    float zr = 0.0f, zi = 0.0f;
    int n = 0;
    for (; n < limit; n++) {
        float rr = __fmul_rn(zr, zr);
        float ii = __fmul_rn(zi, zi);
        if (__fadd_rn(rr, ii) > 4.0f) {
            break;
        }
        zi = fmaf(__fadd_rn(zr, zr), zi, ci);
        zr = __fadd_rn(__fadd_rn(rr, -ii), cr);
    }
    counts[y * width + x] = n;
}
