import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64)
    v = x.copy()
    for _ in range(case.args()[2]):
        v = 0.9 * v + x
    case.expect("out", v)
