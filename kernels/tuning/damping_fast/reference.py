import numpy as np


def reference(case):
    u, d = case.buffer("in").astype(np.float64), case.buffer("damp").astype(np.float64)
    old = 0 * u
    for _ in range(case.args()[3]):
        u, old = (1.9 * u - (1 - d) * old) / (1 + d), u
    case.expect("out", u)
