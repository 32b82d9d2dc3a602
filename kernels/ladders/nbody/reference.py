import corpus
import numpy as np


def reference(case):
    b = case.buffer("bodies").astype(np.float64)
    d = b[None, :, :3] - b[:, None, :3]
    strength = b[:, 3] * ((d * d).sum(axis=2) + np.float64(np.float32(0.01))) ** -1.5
    forces = np.zeros((2048, 4))
    forces[:, :3] = np.einsum("ij,ijk->ik", strength, d)
    case.expect("digest", corpus.digest(forces))
