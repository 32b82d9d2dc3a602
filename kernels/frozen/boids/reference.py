import numpy as np

from corpus import unit

COUNT, SIDE = 3000, 32


def reference(case):
    i = np.arange(COUNT)
    bird = np.stack([SIDE * unit(711, i), SIDE * unit(712, i), unit(713, i) - 0.5, unit(714, i) - 0.5], axis=1).astype(np.float32)
    cell = bird[:, 1].astype(np.int64) * SIDE + bird[:, 0].astype(np.int64)
    order = np.argsort(cell, kind="stable")
    bird, cell = bird[order], cell[order]
    start = np.searchsorted(cell, np.arange(SIDE * SIDE + 1))
    case.input("bird", bird)
    case.input("start", start)
    b = bird.astype(np.float64)
    offset = b[:, None, :2] - b[None, :, :2]
    # The threshold is the kernel's: in single precision.
    o32 = bird[:, None, :2] - bird[None, :, :2]
    d2 = o32[:, :, 0] * o32[:, :, 0] + o32[:, :, 1] * o32[:, :, 1]
    near = (d2 < 1) & ~np.eye(COUNT, dtype=bool)
    away = (offset * near[:, :, None]).sum(axis=1)
    speed = near.astype(np.float64) @ b[:, 2:]
    case.expect("steer", 0.25 * away + 0.125 * near.sum(axis=1)[:, None] * speed)
