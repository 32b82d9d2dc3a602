import triton
import triton.language as tl


@triton.jit
def keys(q, k, v, out, n, D: tl.constexpr):
    pid = tl.program_id(0)
    d = tl.arange(0, D)
    query = tl.load(q + pid * D + d)
    acc = tl.zeros((D,), tl.float32)
    total = 0.0
    for j in range(0, n):
        key = tl.load(k + j * D + d)
        w = tl.exp(tl.sum(query * key, 0) * 0.1)
        total += w
        acc += w * tl.load(v + j * D + d)
    tl.store(out + pid * D + d, acc / total)


@triton.jit
def state(q, k, v, out, n, D: tl.constexpr):
    pid = tl.program_id(0)
    d = tl.arange(0, D)
    s = tl.load(q + pid * D + d)
    for j in range(0, n):
        key = tl.load(k + j * D + d)
        t = tl.sum(s * key, 0)
        s = s * 0.9 + tl.load(v + j * D + d) * (1.0 - t)
    tl.store(out + pid * D + d, s)


@triton.jit
def keys_16(q, k, v, out, n, D: tl.constexpr):
    pid = tl.program_id(0)
    d = tl.arange(0, D)
    query = tl.load(q + pid * D + d)
    acc = tl.zeros((D,), tl.float32)
    total = 0.0
    for j in range(0, n, 16):
        r = j + tl.arange(0, 16)
        key = tl.load(k + r[:, None] * D + d[None, :])
        w = tl.exp(tl.sum(query[None, :] * key, 1) * 0.1)
        total += tl.sum(w, 0)
        acc += tl.sum(w[:, None] * tl.load(v + r[:, None] * D + d[None, :]), 0)
    tl.store(out + pid * D + d, acc / total)
