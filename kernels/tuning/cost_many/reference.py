import numpy as np


def reference(case):
    points = case.buffer("points").astype(np.float64)
    case.expect("out", ((points - case.args()[3]) ** 2).sum(axis=0) * case.buffer("weights"))
