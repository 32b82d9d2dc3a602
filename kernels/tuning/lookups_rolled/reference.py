import numpy as np


def reference(case):
    case.expect("out", case.buffer("table").astype(np.float64)[case.buffer("index")].sum(0))
