import numpy as np


def reference(case):
    case.expect("bins", np.bincount(case.buffer("data"), minlength=256))
