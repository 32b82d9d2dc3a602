import numpy as np


def reference(case):
    values = case.buffer("in")
    kept = values[values > 699]
    out = np.zeros(8000, np.int64)
    out[:len(kept)] = kept
    case.expect("out", out)
    blocks = np.zeros(94 * 256, np.int64)
    blocks[:len(values)] = values > 699
    case.expect("offsets", np.concatenate([[0], np.cumsum(blocks.reshape(94, 256).sum(axis=1))]))
