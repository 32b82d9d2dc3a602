// dfa_scan counts where patterns end in a text: an automaton takes a byte a step and is in its next state by a table, which also says how
// many patterns end there. Each thread scans a piece, and the bytes before it that decide on its first state.
extern "C" __global__ void dfa_scan(const unsigned char *__restrict__ text, const unsigned short *__restrict__ next,
                                    const unsigned char *__restrict__ ends, int *counts, int length, int piece, int warmup) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int from = thread * piece;
    if (from >= length) {
        return;
    }
    int to = min(from + piece, length), state = 0, found = 0;
    for (int i = max(from - warmup, 0); i < to; i++) {
        state = next[state * 16 + (text[i] & 15)];
        if (i >= from) {
            found += ends[state];
        }
    }
    counts[thread] = found;
}
