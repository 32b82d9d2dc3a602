import numpy as np


def reference(case):
    x, targets = case.buffer("logits").astype(np.float64), case.buffer("targets")
    case.expect("losses", np.log(np.exp(x).sum(axis=1)) - x[np.arange(1024), targets])
