import numpy as np


def reference(case):
    image = case.buffer("in").astype(np.float64)
    padded = np.pad(image, 2, mode="edge")
    sums, weights = 0, 0
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            v = padded[2 + dy:98 + dy, 2 + dx:162 + dx]
            w = np.exp(-0.25 * (dx * dx + dy * dy) - 8 * (v - image) ** 2)
            sums, weights = sums + w * v, weights + w
    case.expect("out", sums / weights)
