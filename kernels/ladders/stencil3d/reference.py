import corpus
import numpy as np


def reference(case):
    u = case.buffer("in").astype(np.float64)

    def at(dz, dy, dx):
        return u[2 + dz:130 + dz, 2 + dy:66 + dy, 2 + dx:130 + dx]

    out = -7.5 * at(0, 0, 0)
    for distance, weight in ((1, 4 / 3), (2, -1 / 12)):
        for d in (-distance, distance):
            out += weight * (at(d, 0, 0) + at(0, d, 0) + at(0, 0, d))
    case.expect("digest", corpus.digest(out))
