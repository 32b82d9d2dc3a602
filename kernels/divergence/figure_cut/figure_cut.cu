// figure_cut has the control flow of Figure 8 of Wu et al., "Characterization and Transformation of Unstructured Control Flow in
// Bulk Synchronous GPU Applications": a loop that is left from two blocks in its middle besides its end.
// It looks up and down from a place in a list for a peak, a hole or the end of a run.
extern "C" __global__ void figure_cut(const volatile int *list, int n, int most, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, low = i, high = i, steps = 0, found;
    int value = list[i];
#pragma unroll 1
    do {
        low = low ? low - 1 : n - 1;
        if (list[low] > value + 24) {
            goto below;
        }
        high = high + 1 < n ? high + 1 : 0;
        if (list[high] > value + 20) {
            goto above;
        }
        value += (list[low] + list[high]) >> 8;
        steps++;
    } while (steps < most);
    found = 3 * value;
    goto end;
below:
    found = -list[low] * 5;
    goto end;
above:
    found = list[high] * 7;
end:
    out[2 * i] = found;
    out[2 * i + 1] = steps;
}
