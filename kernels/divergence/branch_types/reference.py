import numpy as np


def reference(case):
    b, c, d, e, f, g = case.buffer("data")
    fourth = np.arange(b.size) % 4 == 0
    case.expect("out", np.where(fourth, 3 * b, np.where(c > 0, c * d, c - e) ^ f) + g)
