import numpy as np


def reference(case):
    a = case.buffer("in").astype(np.float64)
    center, side = (float(v) for v in case.args()[-2:])
    out = a.copy()
    inner = (slice(1, -1),) * 3
    out[inner] *= center
    for axis in range(3):
        for step in (-1, 1):
            out[inner] += side * np.roll(a, step, axis)[inner]
    case.expect("out", out)
