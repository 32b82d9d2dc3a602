import numpy as np


def reference(case):
    products = case.buffer("a") * case.buffer("b")
    case.expect("products", products)
    case.expect("sums", [np.cumsum(part, dtype=np.float32)[-1] for part in np.split(products, range(128, 4000, 128))])
