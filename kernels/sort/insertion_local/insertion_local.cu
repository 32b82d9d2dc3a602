// insertion_local sorts short rows by insertion, one row a thread, in an array that the thread indexes freely.
// Such an array cannot live in registers: it goes to local memory. How far an element moves depends on the data, so
// lanes diverge in the inner loop.
#define LONGEST 16

extern "C" __global__ void insertion_local(const int *in, int *out, int rows, int length) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    int sorted[LONGEST];
    for (int i = 0; i < length; i++) {
        int v = in[row * length + i];
        int j = i;
        while (j > 0 && sorted[j - 1] > v) {
            sorted[j] = sorted[j - 1];
            j--;
        }
        sorted[j] = v;
    }
    for (int i = 0; i < length; i++) {
        out[row * length + i] = sorted[i];
    }
}
