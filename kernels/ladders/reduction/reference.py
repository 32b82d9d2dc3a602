import numpy as np


def reference(case):
    case.expect("out", np.array([case.buffer("in").sum()]))
