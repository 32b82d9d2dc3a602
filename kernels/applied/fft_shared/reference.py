import numpy as np


def reference(case):
    w = np.exp(-2j * np.pi * np.arange(256) / 512).astype(np.complex64)
    case.input("twiddle", w.view(np.float32))
    x = case.buffer("in").view(np.complex64).astype(np.complex128)
    case.expect("out", np.fft.fft(x, axis=1).view(np.float64))
