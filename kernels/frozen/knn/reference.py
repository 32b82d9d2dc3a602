import numpy as np


def reference(case):
    px, py, qx, qy = (case.buffer(name).astype(np.float64) for name in ("px", "py", "qx", "qy"))
    d = (px[None] - qx[:, None]) ** 2 + (py[None] - qy[:, None]) ** 2
    case.expect("nearest", np.argsort(d, axis=1, kind="stable")[:, :4])
