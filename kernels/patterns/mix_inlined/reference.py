import numpy as np


def reference(case):
    v = case.buffer("in")
    h = np.arange(v.size, dtype=np.uint32)
    with np.errstate(over="ignore"):
        for k in range(40):
            h = h ^ (v + np.uint32(k)) * np.uint32(0xCC9E2D51)
            h = (h << np.uint32(13) | h >> np.uint32(19)) * np.uint32(5) + np.uint32(0xE6546B64)
    case.expect("out", h)
