// hash_join looks keys up in a table with open addressing and adds up what it finds: a probe may go on for several steps.
extern "C" __global__ void hash_join(const unsigned *key, const unsigned *slot, const int *payload, int *out, int n, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned k = key[i], h = k * 0x9e3779b1u;
    unsigned at = (h ^ h >> 15) & mask;
    int found = -1;
    for (unsigned s = slot[at]; s != 0; s = slot[at]) {
        if (s == k) {
            found = payload[at];
            break;
        }
        at = (at + 1) & mask;
    }
    out[i] = found;
}
