import numpy as np


def reference(case):
    case.expect("sum", np.array([case.buffer("x").astype(np.float64) @ case.buffer("y").astype(np.float64)]))
