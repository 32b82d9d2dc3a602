import numpy as np


def reference(case):
    angle = np.where(np.arange(6000) % 3 == 0, case.buffer("large"), case.buffer("small")).astype(np.float64)
    case.expect("sines", np.sin(angle))
    case.expect("cosines", np.cos(angle))
