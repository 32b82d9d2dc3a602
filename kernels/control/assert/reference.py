import numpy as np


def reference(case):
    values = case.buffer("in")
    if sorted(values.tolist()) != list(range(2000)):
        raise ValueError("the input is not a permutation")
    case.expect("out", values.astype(np.int64) * 2)
