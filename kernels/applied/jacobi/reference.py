import numpy as np


def sweep(old, right, into):
    out = into.copy()
    out[1:-1, 1:-1] = 0.25 * (old[1:-1, :-2] + old[1:-1, 2:] + old[:-2, 1:-1] + old[2:, 1:-1] - 0.5 * right[1:-1, 1:-1])
    return out


def reference(case):
    a, b, right = (case.buffer(name).astype(np.float64) for name in ("a", "b", "right"))
    b = sweep(a, right, b)
    case.expect("b", b)
    case.expect("a", sweep(b, right, a))
