import numpy as np


def reference(case):
    v = case.buffer("in").astype(np.longdouble)
    for _ in range(4):
        root = np.sqrt(v * v + 1)
        ratio = v / root
        v = np.log(2 + np.exp(-ratio)) + ratio / np.sqrt(root)
    case.expect("out", v)
