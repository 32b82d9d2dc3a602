import numpy as np

from corpus import fma32


def reference(case):
    _, width, height, left, top, step, limit = case.args()
    cr = np.tile(fma32(np.arange(width), step, left), (height, 1))
    ci = np.tile(fma32(np.arange(height), step, top)[:, None], (1, width))
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    counts = np.full(cr.shape, limit)
    live = np.ones(cr.shape, bool)
    for n in range(limit):
        rr, ii = zr * zr, zi * zi
        out = live & (rr + ii > 4)
        counts[out] = n
        live &= ~out
        # Points that are out stay where they are, within fma32's range.
        zr, zi = np.where(live, (rr - ii) + cr, zr), np.where(live, fma32(zr + zr, zi, ci), zi)
    case.expect("counts", counts)
