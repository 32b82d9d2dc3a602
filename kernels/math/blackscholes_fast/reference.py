import math

import numpy as np


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


def reference(case):
    s, x, t = (case.buffer(name).astype(np.float64) for name in ("price", "strike", "years"))
    rate, volatility = (float(v) for v in case.args()[5:7])
    spread = volatility * np.sqrt(t)
    d1 = (np.log(s / x) + (rate + 0.5 * volatility**2) * t) / spread
    d2 = d1 - spread
    discounted = x * np.exp(-rate * t)
    case.expect("call", s * normal_cdf(d1) - discounted * normal_cdf(d2))
    case.expect("put", discounted * normal_cdf(-d2) - s * normal_cdf(-d1))
