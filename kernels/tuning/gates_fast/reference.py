import numpy as np


def reference(case):
    v = case.buffer("in").astype(np.float64)
    for _ in range(case.args()[2]):
        v = v + 0.25 * (1 / (1 + np.exp(-v)) - 0.5 * v)
    case.expect("out", v)
