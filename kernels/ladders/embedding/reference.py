import corpus
import numpy as np


def reference(case):
    rows = case.buffer("table")[case.buffer("tokens")] + np.tile(case.buffer("positions"), (32, 1))
    case.expect("digest", corpus.digest(rows))
