import numpy as np


def reference(case):
    total = np.zeros(20480, np.float32)
    for index in case.buffer("index"):
        total = total + case.buffer("in")[index]
    case.expect("out", total)
