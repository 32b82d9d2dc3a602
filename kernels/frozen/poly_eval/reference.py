import numpy as np

from corpus import unit


def reference(case):
    q = unit(773, np.arange(10)) / 10
    q[0] = 2  # so that the denominator stays away from 0
    case.input("q", q)
    x, p = case.buffer("x"), case.buffer("p")
    powers = x[:, None] ** np.arange(10)
    case.expect("y", powers @ p / (powers @ q))
