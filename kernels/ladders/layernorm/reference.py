import corpus
import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64)
    y = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    case.expect("digest", corpus.digest(y * case.buffer("weight") + case.buffer("bias")))
