import numpy as np


def reference(case):
    """One more than each element; what lies behind the edges of the second tensor stays zero."""
    b = np.zeros((44, 72), np.float32)
    b[:40, :68] = case.buffer("a")[:40, :68] + np.float32(1)
    case.expect("b", b)
