import corpus
import numpy as np


def reference(case):
    case.expect("digest", corpus.digest(np.cumsum(case.buffer("in").astype(np.float64))))
