// state_machine counts the tokens of lines of text, a line a thread, by a switch over states with gotos between them.
// Unstructured control flow: every lane may be in another state, edges leave the loop from its middle, and where lanes meet
// again is not where the source's blocks end.
enum State { START, WORD, WHOLE, FRACTION, QUOTED };

__device__ bool letter(unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
__device__ bool digit(unsigned char c) { return c >= '0' && c <= '9'; }

extern "C" __global__ void state_machine(const unsigned char *text, int lines, int length, int *counts) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) {
        return;
    }
    const unsigned char *s = text + line * length;
    int words = 0, wholes = 0, fractions = 0, strings = 0;
    int i = 0, sign = 1;
    unsigned char c;
    State state = START;
next:
    if (i == length) {
        goto end;
    }
    c = s[i++];
again:
    switch (state) {
    case START:
        if (letter(c)) {
            state = WORD;
        } else if (digit(c)) {
            state = WHOLE;
        } else if (c == '"') {
            state = QUOTED;
        } else if (c == '#') { // a comment up to the end of the line
            goto done;
        }
        goto next;
    case WORD:
        if (letter(c) || digit(c)) {
            goto next;
        }
        words++;
        break;
    case WHOLE:
        if (digit(c)) {
            goto next;
        }
        if (c == '.') {
            state = FRACTION;
            goto next;
        }
        if (letter(c)) {
            goto fail;
        }
        wholes++;
        break;
    case FRACTION:
        if (digit(c)) {
            goto next;
        }
        if (letter(c)) {
            goto fail;
        }
        fractions++;
        break;
    case QUOTED:
        if (c == '"') {
            strings++;
            state = START;
        }
        goto next;
    }
    state = START;
    goto again;
end:
    switch (state) {
    case WORD:
        words++;
        goto done;
    case WHOLE:
        wholes++;
        goto done;
    case FRACTION:
        fractions++;
        goto done;
    case START:
        goto done;
    case QUOTED:
        goto fail;
    }
fail:
    sign = -1; // the place of the mistake, negated
done:
    counts[5 * line] = words;
    counts[5 * line + 1] = wholes;
    counts[5 * line + 2] = fractions;
    counts[5 * line + 3] = strings;
    counts[5 * line + 4] = sign * i;
}
