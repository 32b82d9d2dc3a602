import numpy as np


def reference(case):
    case.expect("counts", np.bincount(case.buffer("in"), minlength=256))
