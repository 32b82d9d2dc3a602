import numpy as np


def fma(a, b, c):
    """One rounding: the products and sums of these small halves are exact in double precision."""
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(np.float16)


def reference(case):
    a, b = case.buffer("x"), case.buffer("y")
    p = np.full_like(a, 0.0625)
    for c in (np.full_like(a, -0.25), np.full_like(a, 0.5), b):
        p = fma(p, a, c)
    swapped = a.reshape(-1, 2)[:, ::-1].reshape(-1)
    case.expect("polynomial", (p * b) + swapped)
    mix = fma((a > b).astype(np.float16), a - b, b)
    case.expect("selected", np.clip(mix - np.abs(b), np.float16(0), np.float16(1)))
    case.expect("approximate", 1 / b.astype(np.float64) + np.sqrt(np.abs(a.astype(np.float64))))
