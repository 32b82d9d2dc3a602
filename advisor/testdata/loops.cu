// Loops of which the source says what the compiler cannot know. Built for sm_80 by NVRTC 12.9 with -lineinfo.
struct table {
    unsigned int *slots;
    unsigned int size, rounds;
};

extern "C" __global__ void inserts(struct table *t, unsigned int *keys) {
    unsigned int k = keys[threadIdx.x];
    for (unsigned int i = 0; i < t->rounds && k != 0; i++)
        k = atomicExch(&t->slots[(k * 9u + i) % t->size], k);
    keys[threadIdx.x] = k;
}

extern "C" __global__ void tile_ends(float *x, int stride, int tile) {
    int k = 0;
    float sum = 0;
    for (int i = 1; i <= tile; i++)
        while (k < stride * i / tile)
            sum = sum * x[threadIdx.x + 32 * k++] + i;
    x[threadIdx.x] = sum;
}

extern "C" __global__ void common(const int *a, const int *b, int *count, int n) {
    int i = threadIdx.x * n, j = i, end = i + n, found = 0;
    int u = a[i], v = b[j];
    while (i < end && j < end) {
        int d = u - v;
        found += d == 0;
        if (d <= 0)
            u = a[++i];
        if (d >= 0)
            v = b[++j];
    }
    count[threadIdx.x] = found;
}
