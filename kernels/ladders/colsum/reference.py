import numpy as np


def reference(case):
    case.expect("out", case.buffer("in").sum(axis=0, dtype=np.float64))
