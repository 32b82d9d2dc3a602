import numpy as np


def reference(case):
    products = (case.buffer("in") * case.buffer("weight")).astype(np.float64)
    case.expect("out", products.reshape(160, 8, 16, 16).sum(axis=2))
