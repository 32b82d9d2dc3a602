import numpy as np


def reference(case):
    x = case.buffer("in")
    case.expect("out", (x * x ^ x >> np.uint32(3)).sum(axis=1, dtype=np.uint32))
