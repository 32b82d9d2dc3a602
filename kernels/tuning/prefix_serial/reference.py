import numpy as np


def reference(case):
    ends = np.cumsum(case.buffer("lengths"), axis=1)
    case.expect("out", ends * 4 + case.buffer("codes"))
