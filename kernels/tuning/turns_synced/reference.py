import numpy as np


def reference(case):
    values = case.buffer("in")
    total = values.copy()
    for k in range(64):
        total = total * np.uint32(3) ^ np.roll(values, -k, axis=1)
    case.expect("out", total)
