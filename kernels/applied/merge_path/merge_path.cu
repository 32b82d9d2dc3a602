// merge_path merges two sorted arrays: every thread finds by binary search where its stretch of the result begins in both, and
// merges it one element at a time. The steps of the search depend on each other through memory; lanes take different ways.
#define STRETCH 8

extern "C" __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out) {
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * STRETCH;
    if (diagonal >= na + nb) {
        return;
    }
    int low = diagonal > nb ? diagonal - nb : 0;
    int high = diagonal < na ? diagonal : na;
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int i = low, j = diagonal - low;
    for (int k = diagonal; k < diagonal + STRETCH && k < na + nb; k++) {
        if (j >= nb || i < na && a[i] <= b[j]) {
            out[k] = a[i++];
        } else {
            out[k] = b[j++];
        }
    }
}
