import corpus
import numpy as np


def reference(case):
    case.expect("digest", corpus.digest(-np.sort(-case.buffer("in"), axis=1)[:, :8]))
