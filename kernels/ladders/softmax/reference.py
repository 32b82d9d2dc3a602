import corpus
import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    case.expect("digest", corpus.digest(e / e.sum(axis=1, keepdims=True)))
