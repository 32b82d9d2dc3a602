import corpus
import numpy as np


def reference(case):
    x = case.buffer("in").astype(np.float64) + case.buffer("bias")
    case.expect("digest", corpus.digest(0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))))
