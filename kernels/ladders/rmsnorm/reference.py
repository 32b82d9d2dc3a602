import corpus
import numpy as np


def reference(case):
    x = case.buffer("x").astype(np.float64) + case.buffer("residual")
    y = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)
    case.expect("digest", corpus.digest(y * case.buffer("weight")))
