import corpus
import numpy as np


def reference(case):
    c = case.buffer("a").astype(np.float64) @ case.buffer("b").astype(np.float64).T
    case.expect("digest", corpus.digest(c * case.buffer("scales")[:, None]))
