// Kernels that were written when the rules of the advice on control flow were finished: six whose threads leave or enter loops in
// the middle, and two in which that costs nothing.
//
// Built with NVRTC 12.9: --gpu-architecture=sm_70, -lineinfo.

// mix is work of some 40 instructions that depend on each other.
__device__ __forceinline__ unsigned mix(unsigned x, unsigned y) {
#pragma unroll
    for (int k = 0; k < 8; k++) {
        x ^= x >> 15;
        x = x * 0x2c1b3c6dU + y;
        y = (y << 7 | y >> 25) ^ x;
    }
    return x;
}

// probe looks keys up by open addressing. A search ends at a match, at an empty slot or after many steps, by jumps out of the middle;
// a stale slot goes on at another place of the table. What follows a search is shared by two of the three ends.
extern "C" __global__ void probe(const unsigned *table, const unsigned *keys, unsigned *out, int rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned key = keys[(i * rounds + r) & 65535], at = mix(key, r) & 4095, steps = 0;
#pragma unroll 1
        for (;;) {
            unsigned slot = table[at];
            if (slot % 37 == key % 37) goto found;
            if (slot % 11 == 0) goto empty;
            if (slot % 7 == 3) {
                at = mix(slot, at) & 4095;
                if (slot % 5 == 1) goto found;
            }
            at = (at + 1) & 4095;
            if (++steps > 24) goto empty;
        }
    found:
        sum = mix(sum, at);
    empty:
        sum += mix(key, steps);
    }
    out[i] = sum;
}

// parse reads instructions of a byte code. Mistakes jump from several depths to one place in the loop, and the worst of them out of it.
extern "C" __global__ void parse(const unsigned *code, unsigned *out, int length) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, top = i, errors = 0;
    int at = 0;
#pragma unroll 1
    while (at < length) {
        unsigned op = code[(i * 13 + at++) & 65535];
        if (op % 8 < 3) {
            if (op % 64 < 6) goto wrong;
            top = mix(top, op);
            if (top % 16 == 0) goto wrong;
        } else if (op % 8 < 6) {
            top += op;
            if (top % 32 == 1) goto wrong;
            if (op % 4096 == 77) goto out;
        }
        top = mix(top, at);
        continue;
    wrong:
        errors = mix(errors, op);
        if (errors % 64 == 5) goto out;
    }
out:
    out[i] = top ^ errors;
}

// walk moves along a path with steps that are drawn again where they are refused, from two places.
extern "C" __global__ void walk(const unsigned *field, unsigned *out, int rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = i * 97, seed = i, turns = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
    draw:
        seed = mix(seed, r);
        unsigned next = (at + seed % 19) & 65535, height = field[next];
        if (height % 4 == 0 && turns++ % 3 != 2) goto draw;
        if (height % 64 == 9) break;
        if (height % 8 == 1) {
            seed ^= height;
            if (turns++ % 5 != 4) goto draw;
        }
        at = next;
    }
    out[i] = at + turns;
}

// duff goes round a loop that is unrolled by hand, and enters it where the remainder says (Duff's device).
extern "C" __global__ void duff(const unsigned *field, unsigned *out, int most) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i, count = field[i & 65535] % most + 1;
    unsigned rounds = (count + 3) / 4;
    switch (count % 4) {
    case 0:
#pragma unroll 1
        do {
            sum = mix(sum, field[(sum + 1) & 65535]);
    case 3:
            sum = mix(sum, field[(sum ^ 3) & 65535]);
    case 2:
            sum = mix(sum, field[(sum + 5) & 65535]);
    case 1:
            sum = mix(sum, field[(sum ^ 9) & 65535]);
        } while (--rounds > 0);
    }
    out[i] = sum;
}
// resume enters a loop at its beginning or in its middle, and leaves it from both.
extern "C" __global__ void resume(const unsigned *field, unsigned *out, int most) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i, left = field[i & 65535] % most + 1;
    if (field[(i + 7) & 65535] % 2) goto middle;
    for (;;) {
        sum = mix(sum, field[sum & 65535]);
        if (sum % 64 == 3) goto out;
    middle:
        sum = mix(sum, field[(sum ^ 77) & 65535]);
        if (--left == 0) break;
    }
    sum = mix(sum, 1);
out:
    out[i] = sum;
}
// coroutines goes from one loop into the other and back.
extern "C" __global__ void coroutines(const unsigned *field, unsigned *out, int most) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i, left = field[i & 65535] % most + 1;
    if (sum % 3 == 0) goto second;
first:
    sum = mix(sum, field[sum & 65535]);
    if (--left == 0) goto out;
    if (sum % 8 != 1) goto second;
    goto first;
second:
    sum = mix(sum, field[(sum ^ 77) & 65535]);
    if (--left == 0) goto out;
    if (sum % 8 == 2) goto second;
    goto first;
out:
    out[i] = sum;
}

// steps is left in the middle by all threads in the same round.
extern "C" __global__ void steps(const unsigned *field, unsigned *out, int rounds, int first, int second) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        sum = mix(sum, field[(i + r) & 65535]);
        if (r == first) goto out;
        sum += field[(i ^ r) & 65535];
        if (r * r == second) goto end;
    }
end:
    sum = mix(sum, rounds);
out:
    out[i] = sum;
}

// rare is left in the middle by hardly any thread.
extern "C" __global__ void rare(const unsigned *field, unsigned *out, int rounds) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = i;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned x = field[(i + 64 * r) & 65535];
        if (x == 12345) goto out;
        sum = mix(sum, x);
        if (x == 54321) goto end;
        sum += x;
    }
end:
    sum = mix(sum, rounds);
out:
    out[i] = sum;
}
