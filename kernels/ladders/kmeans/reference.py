import corpus
import numpy as np


def reference(case):
    points, centers = case.buffer("points").astype(np.float64), case.buffer("centers").astype(np.float64)
    distances = ((points[:, None, :] - centers) ** 2).sum(axis=2)
    case.expect("nearest", distances.argmin(axis=1))
    case.expect("digest", corpus.digest(distances.min(axis=1)))
