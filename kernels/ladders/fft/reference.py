import corpus
import numpy as np


def reference(case):
    roots = np.exp(-2j * np.pi * np.arange(256) / 256)
    case.input("roots", np.stack([roots.real, roots.imag], axis=1).astype(np.float32))
    x = case.buffer("x").astype(np.float64)
    y = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=1)
    case.expect("digest", corpus.digest(np.stack([y.real, y.imag], axis=2)))
