// Control flow in each shape that a compiler leaves in machine code: a jump table with fall-through, gotos out of nested
// loops, loops with several exits, joins that no structure describes, warp-wide operations under divergence.

extern "C" __global__ void machine(const volatile int *code, volatile int *out, int n)
{
    int i = threadIdx.x, state = 0;
    for (int pc = 0; pc < n; pc++) {
        switch (code[pc]) {
        case 0: state += out[i]; break;
        case 1: out[1] = state; // falls through
        case 2: state ^= out[2]; break;
        case 3: out[3] = state * i; break;
        case 4: state = out[4] % 7; break;
        case 5: if (out[5] == i) goto done; break;
        case 6: out[6] = i; // falls through
        case 7: out[7] = i; break;
        default: return;
        }
    }
done:
    out[i] = state;
}

extern "C" __global__ void nest(const volatile int *a, volatile int *out, int n)
{
    int i = threadIdx.x, hits = 0;
    for (int y = 0; y < n; y++) {
        for (int x = 0; x < n; x++) {
            int v = a[y * n + x];
            if (v < 0)
                goto out;
            if (v == i)
                continue;
            while (v > i) {
                v = a[v];
                if (v == 7)
                    break;
                hits++;
            }
        }
        out[y] = hits;
    }
out:
    if (hits == 0)
        return;
    out[i] = hits;
}

// The shape of Figure 1 of "SIMD re-convergence at thread frontiers": two early exits that skip a join.
extern "C" __global__ void frontier(const volatile int *a, volatile int *out)
{
    int i = threadIdx.x;
    out[i] = 1;
    if (a[0] == i)
        goto three;
    out[i] = 2;
    if (a[1] == i)
        goto end;
three:
    out[i] = 3;
    if (a[2] == i)
        goto five;
    out[i] = 4;
    if (a[3] == i)
        goto end;
five:
    out[i] = 5;
end:
    out[i] = 6;
}

// Two loops that share their exit, one of which can be entered in the middle.
extern "C" __global__ void entries(const volatile int *a, volatile int *out)
{
    int i = threadIdx.x;
    if (a[0] == i)
        goto middle;
    do {
        out[1] = i;
    middle:
        out[2] = i;
    } while (a[1] != i);
    do
        out[3] = i;
    while (a[2] != i && a[3] != i);
    while (a[4] != i)
        ;
}

extern "C" __global__ void warp(const int *mask, int *out, int n)
{
    int i = threadIdx.x, v = out[i];
    if (v > n)
        v += __shfl_sync(0xff, v, 3);
    else
        v = __ballot_sync(~0u, v & 1);
    __syncwarp(mask[0]);
    out[i] = v + __any_sync(mask[1], i);
}
