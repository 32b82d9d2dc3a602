import numpy as np


def reference(case):
    image = case.buffer("in").astype(np.float64)
    weights = case.buffer("weights").astype(np.float64).reshape(5, 5)
    height, width = image.shape
    padded = np.pad(image, 2)
    inside = np.pad(np.ones(image.shape, np.int64), 2)
    out = np.full(image.shape, 0.5)
    outside = 0
    for dy in range(5):
        for dx in range(5):
            window = slice(dy, dy + height), slice(dx, dx + width)
            out += weights[dy, dx] * padded[window]
            outside += inside[window].size - inside[window].sum()
    case.expect("out", out)
    case.expect("outside", outside)
