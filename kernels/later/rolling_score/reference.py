import numpy as np


def reference(case):
    x = np.concatenate([np.zeros(32), case.buffer("in").astype(np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(x, 32)[:50000]
    mean = windows.mean(axis=1)
    variance = (windows ** 2).mean(axis=1) - mean ** 2 + 0.01
    case.expect("out", (x[32:] - mean) / np.sqrt(variance))
