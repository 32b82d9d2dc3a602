// label_tiles names the connected parts of squares of 16 by 16 pixels: every lit pixel gets the lowest number of a pixel that it is
// connected with. A block does a square: labels go to the least of the neighbours' and of the label's own label until none changes.
extern "C" __global__ void label_tiles(const unsigned char *__restrict__ image, short *labels, int width, int threshold) {
    __shared__ int label[18 * 18];
    int x = threadIdx.x, y = threadIdx.y, own = (y + 1) * 18 + x + 1;
    for (int i = y * 16 + x; i < 18 * 18; i += 256) {
        label[i] = 1 << 20;
    }
    __syncthreads();
    int at = (blockIdx.y * 16 + y) * width + blockIdx.x * 16 + x;
    bool lit = image[at] >= threshold;
    if (lit) {
        label[own] = own;
    }
    int changed = 1;
    while (__syncthreads_or(changed)) {
        changed = 0;
        int least = 1 << 20;
        if (lit) {
            least = min(min(label[own - 1], label[own + 1]), min(label[own - 18], label[own + 18]));
            least = min(least, label[label[own]]);
        }
        __syncthreads();
        if (lit && least < label[own]) {
            label[own] = least;
            changed = 1;
        }
    }
    labels[at] = lit ? label[own] : -1;
}
