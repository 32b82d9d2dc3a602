import numpy as np


def reference(case):
    y = case.buffer("in").astype(np.float64)
    for _ in range(case.args()[2]):
        y = y + 0.01 * (0.5 - y) * (1 + y)
    case.expect("out", y)
