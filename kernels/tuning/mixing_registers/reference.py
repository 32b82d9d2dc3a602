import numpy as np


def reference(case):
    v = case.buffer("in").astype(np.float64)
    for _ in range(case.args()[2]):
        v = v * 0.5 + np.roll(v, -7, axis=0) * 0.25
    case.expect("out", v.sum(axis=0))
