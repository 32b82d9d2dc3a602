// mandel_exits draws the Mandelbrot set in one loop for points and steps: each thread takes its next point as soon as it is done
// with one.
// A point is left from several places: known areas, escape, a cycle, too many steps; so lanes meet in the middle of the loop
// ("Mandelbrot" in "SIMD Re-Convergence At Thread Frontiers", section 5). Every operation rounds once, so the counts are exact.
extern "C" __global__ void mandel_exits(int *steps, int width, int height, float left, float top, float size, int most) {
    int stride = gridDim.x * blockDim.x, points = width * height;
    int point = blockIdx.x * blockDim.x + threadIdx.x;
    float cx, cy, x, y, x2, y2, oldx, oldy;
    int step, keep, result;
next:
    if (point >= points) {
        return;
    }
    cx = __fadd_rn(left, __fmul_rn(size, (float)(point % width)));
    cy = __fadd_rn(top, __fmul_rn(size, (float)(point / width)));
    y2 = __fmul_rn(cy, cy);
    x = __fadd_rn(cx, 1.0f);
    if (__fadd_rn(__fmul_rn(x, x), y2) < 0.0625f) { // the disk of period 2
        result = -1;
        goto done;
    }
    x = __fadd_rn(cx, -0.25f);
    x2 = __fadd_rn(__fmul_rn(x, x), y2);
    if (__fmul_rn(x2, __fadd_rn(x2, x)) < __fmul_rn(0.25f, y2)) { // the cardioid
        result = -2;
        goto done;
    }
    x = y = oldx = oldy = 0.0f;
    keep = 8;
    for (step = 0; step < most; step++) {
        x2 = __fmul_rn(x, x);
        y2 = __fmul_rn(y, y);
        if (__fadd_rn(x2, y2) > 4.0f) {
            result = step;
            goto done;
        }
        y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
        x = __fadd_rn(__fadd_rn(x2, -y2), cx);
        if (x == oldx && y == oldy) { // Brent's search for a cycle
            result = -3;
            goto done;
        }
        if (step == keep) {
            oldx = x;
            oldy = y;
            keep *= 2;
        }
    }
    result = most;
done:
    steps[point] = result;
    point += stride;
    goto next;
}
