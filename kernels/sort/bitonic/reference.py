import numpy as np


def reference(case):
    case.expect("keys", np.sort(case.buffer("keys"), axis=1))
