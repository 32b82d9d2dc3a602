import numpy as np


def reference(case):
    at, table = case.buffer("at"), case.buffer("table").astype(np.float64)
    position = at.astype(np.float32) * np.float32(2999)
    k = np.minimum(position.astype(np.int64), 2998)
    part = position.astype(np.float64) - k
    case.expect("out", table[k] + part * (table[k + 1] - table[k]))
