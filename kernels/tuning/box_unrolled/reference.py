import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64)
    case.expect("out", ((x[:, :, None] - x[:, None, :]) ** 2).sum(axis=2))
