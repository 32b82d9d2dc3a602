import numpy as np


def reference(case):
    x = case.buffer("in")
    for k in range(24):
        x = (x // np.uint32(64)) * np.uint32(977) + x % np.uint32(64) + np.uint32(k)
        x = x ^ x << np.uint32(5)
    case.expect("out", x)
