// exception_call works out sums and products that are written as text, one a thread, by a function that is called for every
// number and throws what it cannot read to the caller's handler.
// The call returns to threads in different places, and the edges to the handler leave the loop ("exception-call" in "SIMD
// Re-Convergence At Thread Frontiers", section 5).
enum Mistake { NONE, NO_DIGIT, TOO_LONG, NO_OPERATOR };

struct Reader {
    const unsigned char *s;
    int at;
    Mistake mistake;
};

__device__ __noinline__ unsigned number(Reader *r) {
    unsigned value = 0;
    int digits = 0;
#pragma unroll 1
    for (;;) {
        unsigned char c = r->s[r->at];
        if (c < '0' || c > '9') {
            break;
        }
        if (digits == 4) {
            r->mistake = TOO_LONG;
            return value;
        }
        value = value * 10 + (c - '0');
        digits++;
        r->at++;
    }
    if (digits == 0) {
        r->mistake = NO_DIGIT;
    }
    return value;
}

extern "C" __global__ void exception_call(const unsigned char *text, int lines, int length, unsigned *out) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) {
        return;
    }
    Reader r = {text + line * length, 0, NONE};
    unsigned sum = 0, product = number(&r);
    if (r.mistake) {
        goto failed;
    }
#pragma unroll 1
    for (;;) {
        unsigned char operation = r.s[r.at];
        if (operation == ';') {
            break;
        }
        r.at++;
        if (operation == '*') {
            product *= number(&r);
            if (r.mistake) {
                goto failed;
            }
        } else if (operation == '+') {
            sum += product;
            product = number(&r);
            if (r.mistake) {
                goto failed;
            }
        } else if (operation == '-') {
            sum += product;
            product = 0 - number(&r);
            if (r.mistake) {
                goto failed;
            }
        } else {
            r.at--;
            r.mistake = NO_OPERATOR;
            goto failed;
        }
    }
    out[3 * line] = sum + product;
    goto done;
failed:
    out[3 * line] = 0;
done:
    out[3 * line + 1] = r.mistake;
    out[3 * line + 2] = r.at;
}
