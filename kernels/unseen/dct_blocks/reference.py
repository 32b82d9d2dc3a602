import numpy as np


def reference(case):
    k, n = np.mgrid[0:8, 0:8]
    cosines = np.where(k == 0, np.sqrt(1 / 8), 0.5) * np.cos(np.pi * (2 * n + 1) * k / 16)
    rounded = cosines.astype(np.float32)
    case.input("cosines", rounded)
    image = case.buffer("image").astype(np.float64)
    squares = image.reshape(-1, 8, image.shape[1] // 8, 8).swapaxes(1, 2)
    c = rounded.astype(np.float64)
    out = c @ squares @ c.T / case.buffer("quantizer").astype(np.float64).reshape(8, 8)
    case.expect("out", out.swapaxes(1, 2).reshape(image.shape))
