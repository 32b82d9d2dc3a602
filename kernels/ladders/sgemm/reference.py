import corpus
import numpy as np


def reference(case):
    case.expect("digest", corpus.digest(case.buffer("a").astype(np.float64) @ case.buffer("b").astype(np.float64)))
