import numpy as np


def around(x):
    return sum(np.roll(x, step, axis) for axis in (0, 1) for step in (1, -1)) - 4 * x


def reference(case):
    u, v = (case.buffer(name).astype(np.float64) for name in "uv")
    r = u * v * v
    case.expect("un", u + 0.16 * around(u) - r + 0.035 * (1 - u))
    case.expect("vn", v + 0.08 * around(v) + r - 0.1 * v)
