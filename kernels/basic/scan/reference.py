import numpy as np


def reference(case):
    values = case.buffer("in").astype(np.int64)
    case.expect("out", np.cumsum(values, axis=1) - values)
