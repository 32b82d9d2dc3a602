// exception_loop decodes UTF-8, a string a thread: mistakes are thrown from many places in a loop to one handler, which counts
// them and goes on after the byte, or gives the string up.
// The edges to the handler leave the decoding of every length in its middle ("exception-loop" in "SIMD Re-Convergence At
// Thread Frontiers", section 5).
extern "C" __global__ void exception_loop(const unsigned char *text, int strings, int length, int limit, unsigned *out) {
    int string = blockIdx.x * blockDim.x + threadIdx.x;
    if (string >= strings) {
        return;
    }
    const unsigned char *s = text + string * length;
    unsigned characters = 0, sum = 0, mistakes = 0;
    int at = 0;
    while (at < length) {
        int lead = at;
        unsigned c = s[at++], low = 0x80, high = 0xbf;
        int more;
        if (c < 0x80) {
            goto decoded;
        } else if (c < 0xc2) {
            goto mistake; // a continuation, or a form that is too long
        } else if (c < 0xe0) {
            more = 1;
            c &= 0x1f;
        } else if (c < 0xf0) {
            more = 2;
            low = c == 0xe0 ? 0xa0 : 0x80;  // no form that is too long
            high = c == 0xed ? 0x9f : 0xbf; // no surrogate
            c &= 0x0f;
        } else if (c < 0xf5) {
            more = 3;
            low = c == 0xf0 ? 0x90 : 0x80;
            high = c == 0xf4 ? 0x8f : 0xbf; // none after U+10FFFF
            c &= 0x07;
        } else {
            goto mistake;
        }
#pragma unroll 1
        for (; more > 0; more--) {
            if (at == length) {
                goto mistake;
            }
            unsigned next = s[at++];
            if (next < low || next > high) {
                goto mistake;
            }
            c = c << 6 | (next & 0x3f);
            low = 0x80;
            high = 0xbf;
        }
    decoded:
        characters++;
        sum = sum * 31 + c;
        continue;
    mistake:
        sum = sum * 31 + 0xfffd;
        if (++mistakes > limit) {
            break;
        }
        at = lead + 1;
    }
    out[4 * string] = characters;
    out[4 * string + 1] = mistakes;
    out[4 * string + 2] = sum;
    out[4 * string + 3] = mistakes > limit;
}
