import corpus
import numpy as np


def reference(case):
    x, w = case.buffer("in").astype(np.float64), case.buffer("taps").reshape(5, 5).astype(np.float64)
    case.expect("digest", corpus.digest(sum(w[j, i] * x[j:j + 512, i:i + 512] for j in range(5) for i in range(5))))
