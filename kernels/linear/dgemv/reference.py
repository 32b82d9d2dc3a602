import math

import numpy as np


def reference(case):
    a, x, y = (case.buffer(name) for name in "axy")
    products = [math.fsum(row * x) for row in a]
    case.expect("y", 1.25 * np.array(products) - 0.5 * y)
