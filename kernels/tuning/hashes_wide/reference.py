import numpy as np


def reference(case):
    h = case.buffer("in")
    for _ in range(case.args()[2]):
        h = h * np.uint32(2654435761) ^ h >> np.uint32(15)
    case.expect("out", h.reshape(960, 128).sum(axis=1, dtype=np.uint32))
