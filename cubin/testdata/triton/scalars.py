import triton
import triton.language as tl


@triton.jit
def running(x, out, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * BLOCK
    total = 0.0
    for i in range(BLOCK):
        if base + i < n:
            total += tl.load(x + base + i)
            tl.store(out + base + i, total)


@triton.jit
def filtered(x, out, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * BLOCK
    state = 0.0
    for i in range(BLOCK):
        if base + i < n:
            state = state * state + tl.load(x + base + i)
            tl.store(out + base + i, state)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def running_block(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.associative_scan(tl.load(x + i, mask=i < n, other=0.0), 0, add)
    tl.store(out + i, total, mask=i < n)
