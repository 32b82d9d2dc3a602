// background tells what moves in a film from what stands: every pixel, one a thread, has up to four modes with mean, variance and
// weight (a mixture of Gaussians, in whole numbers), of which a new brightness matches one or replaces one.
// The search for the mode ends in many places ("background subtraction" in "SIMD Re-Convergence At Thread Frontiers",
// section 5).
enum { MODES = 4, ONE = 4096 };

struct Mode {
    int mean, variance, weight;
};

extern "C" __global__ void background(const unsigned char *film, int frames, int pixels, Mode *modes, int *used,
                                      unsigned char *moving) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    Mode *own = modes + pixel * MODES;
    int count = 0;
#pragma unroll 1
    for (int frame = 0; frame < frames; frame++) {
        int value = film[frame * pixels + pixel] * 16, total = 0, k;
        bool foreground = true;
#pragma unroll 1
        for (k = 0; k < count; k++) {
            int off = value - own[k].mean;
            own[k].weight -= own[k].weight >> 4;
            if (off * off < 9 * own[k].variance) {
                if (total < ONE * 3 / 4) {
                    foreground = false;
                }
                own[k].weight += ONE >> 4;
                own[k].mean += off >> 3;
                own[k].variance += (off * off - own[k].variance) >> 3;
                if (own[k].variance < 256) {
                    own[k].variance = 256;
                }
                goto matched;
            }
            if (own[k].weight < 32) { // forgotten, and with it the lighter ones after it
                count = k;
                goto replace;
            }
            total += own[k].weight;
        }
        if (count == MODES) {
            k = count - 1;
        }
    replace:
        own[k].mean = value;
        own[k].variance = 4096;
        own[k].weight = ONE >> 4;
        count = k + 1;
    matched: // the heavier mode comes first
#pragma unroll 1
        for (; k > 0; k--) {
            if (own[k - 1].weight >= own[k].weight) {
                break;
            }
            Mode lighter = own[k - 1];
            own[k - 1] = own[k];
            own[k] = lighter;
        }
        moving[frame * pixels + pixel] = foreground;
    }
    used[pixel] = count;
}
