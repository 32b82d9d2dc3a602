import numpy as np


def mask(bits):
    return sum(1 << lane for lane, bit in enumerate(bits) if bit)


def signed(v):
    return v - 2**32 if v >= 2**31 else v


def warp(v):
    odd = [x for x in v if x % 2]
    flags = any(x > 900 for x in v) + 2 * all(x > 20 for x in v)
    rows = []
    for lane, x in enumerate(v):
        partial = -1
        if x % 2:
            rank = sum(1 for y in v[:lane] if y % 2)
            partial = rank + 100 * odd[0] + 1000000 * sum(1 for y in odd if y > 500)
        rows.append([
            signed(mask([y % 2 for y in v])),
            flags,
            signed(mask([y % 5 == x % 5 for y in v])),
            255,
            1,
            v[(lane + x % 7) % 32],
            v[lane - 3] if lane % 16 >= 3 else x,
            v[lane + 5] if lane % 8 + 5 < 8 else x,
            v[lane ^ 21],
            partial,
        ])
    return rows


def reference(case):
    warps = case.buffer("in").reshape(-1, 32).tolist()
    case.expect("out", np.array([warp(v) for v in warps]))
