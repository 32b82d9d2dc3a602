import numpy as np


def reference(case):
    case.expect("balances", np.full(12, 2 * 32 * 33 // 2))
    case.expect("holders", np.ones((12, 64), np.int64))
