import corpus
import numpy as np


def reference(case):
    v = case.buffer("in").astype(np.float64)
    padded = np.pad(v, 2, mode="edge")
    total = weights = 0
    for j in range(5):
        for i in range(5):
            near = padded[j:j + 256, i:i + 256]
            w = np.exp(-((i - 2) ** 2 + (j - 2) ** 2) / 4.5 - (near - v) ** 2 / 0.08)
            total, weights = total + w * near, weights + w
    case.expect("digest", corpus.digest(total / weights))
