import numpy as np


def reference(case):
    """All points step by step together; what is decided stays."""
    width, height, left, top, size, most = case.args()[1:]
    i = np.arange(width * height)
    cx = left + size * (i % width).astype(np.float32)
    cy = top + size * (i // width).astype(np.float32)
    out = np.full(i.size, most)
    square = cy * cy
    quarter = cx - np.float32(0.25)
    q = quarter * quarter + square
    cardioid = q * (q + quarter) < np.float32(0.25) * square
    disk = (cx + 1) * (cx + 1) + square < np.float32(0.0625)
    out[cardioid], out[disk] = -2, -1
    live = ~(cardioid | disk)
    x = y = oldx = oldy = np.zeros(i.size, np.float32)
    keep = 8
    for step in range(most):
        with np.errstate(over="ignore", invalid="ignore"):
            x2, y2 = x * x, y * y
            escaped = live & (x2 + y2 > 4)
            out[escaped] = step
            live &= ~escaped
            x, y = (x2 - y2) + cx, (x + x) * y + cy
        cycle = live & (x == oldx) & (y == oldy)
        out[cycle] = -3
        live &= ~cycle
        if step == keep:
            oldx, oldy, keep = x, y, 2 * keep
    case.expect("steps", out)
