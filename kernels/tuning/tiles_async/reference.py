import numpy as np


def reference(case):
    tiles, out = case.buffer("in").astype(np.float64), 0
    for d in range(32):
        out = out * 0.875 + np.roll(tiles, -d, axis=2)
    case.expect("out", out.astype(np.float32))
