import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64)
    for _ in range(160):
        x = x + 0.125 * (1 - x * x) * 0.25
    case.expect("out", x)
