import numpy as np


def reference(case):
    lengths = case.buffer("lengths")
    sums = np.zeros(8 * 64, np.int64)
    for i, n in enumerate(lengths.tolist()):
        k = np.arange(n)
        sums[i] = ((n - k) * (i + k * k)).sum()
    case.expect("sums", sums[:500])
    case.expect("block_sums", sums.reshape(8, 64).sum(axis=1))
