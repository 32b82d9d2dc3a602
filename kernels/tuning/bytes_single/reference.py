import numpy as np


def reference(case):
    table = case.buffer("table").astype(np.int32).reshape(256, 16).sum(axis=1)
    i = np.arange(20480)
    case.expect("out", sum(table[(i + 5 * k) % 256] for k in range(case.args()[2])))
