import numpy as np


def reference(case):
    a, b = (case.buffer(name).astype(np.float64) for name in ("a", "b"))
    case.expect("c", a.T @ b)
