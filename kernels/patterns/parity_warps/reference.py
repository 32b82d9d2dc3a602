import numpy as np


def reference(case):
    v = case.buffer("in").astype(np.uint32)
    odd = np.arange(v.size) % 2 == 1
    with np.errstate(over="ignore"):
        for _ in range(48):
            a = v * np.uint32(1664525) + np.uint32(1013904223)
            a ^= a << np.uint32(7)
            b = v * np.uint32(22695477) + np.uint32(1)
            b += b << np.uint32(5)
            v = np.where(odd, a, b)
    case.expect("out", v.view(np.int32))
