import numpy as np


def reference(case):
    values = np.zeros(96 * 256)
    values[:24500] = case.buffer("in")
    case.expect("sums", values.reshape(96, 256).sum(axis=1))
