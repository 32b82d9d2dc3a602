import numpy as np


def reference(case):
    case.expect("out", np.sort(case.buffer("in"), axis=1))
