import numpy as np


def reference(case):
    inputs, weights = (case.buffer(name).astype(np.float64) for name in ("inputs", "weights"))
    groups = np.arange(len(inputs))
    case.expect("sums", np.einsum("gi,giu->gu", inputs, weights[groups % 64]).astype(np.float32))
