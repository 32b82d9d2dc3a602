import numpy as np


def reference(case):
    x = case.buffer("in")
    odd = np.arange(20480) % 2 == 1
    left, right = x, x
    for _ in range(40):
        left = left * np.uint32(1664525) + np.uint32(1013904223)
        left = left ^ left >> np.uint32(9)
        right = (right ^ right << np.uint32(7)) + np.uint32(12345)
        right = right ^ right >> np.uint32(11)
    case.expect("out", np.where(odd, left, right))
