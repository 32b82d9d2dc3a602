import numpy as np

from corpus import draw, unit

SIDE, LONGEST = 16, 24


def reference(case):
    """Atoms near the points of a lattice, numbered at random; neighbours are lattice neighbours at up to two steps."""
    n = SIDE**3
    cell = np.arange(n)
    lattice = np.stack([cell % SIDE, cell // SIDE % SIDE, cell // SIDE**2], axis=1)
    shift = np.stack([unit(643 + k, cell) for k in range(3)], axis=1)
    order = np.argsort(draw(646, cell))  # lattice cell of atom
    atom = np.empty(n, np.int64)
    atom[order] = cell
    position = np.zeros((n, 4))
    position[:, :3] = (1.2 * lattice + 0.2 * shift)[order]
    position = position.astype(np.float32)
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-2, -1, 0, 1, 2) if (x, y, z) != (0, 0, 0)][:LONGEST]
    neighbours = np.empty((LONGEST, n), np.int64)
    for k, step in enumerate(steps):
        at = (lattice[order] + step) % SIDE
        neighbours[k] = atom[at[:, 0] + SIDE * at[:, 1] + SIDE**2 * at[:, 2]]
    case.input("position", position)
    case.input("neighbours", neighbours)
    count = case.buffer("count")
    p = position[:, :3].astype(np.float64)
    d = p[None] - p[neighbours]
    r2 = (d**2).sum(axis=2)
    inside = (r2 < 6.25) & (np.arange(LONGEST)[:, None] < count[None])
    s = 1 / r2
    s6 = s**3
    f = np.where(inside, s * s6 * (48 * s6 - 24), 0)
    force = np.zeros((n, 4))
    force[:, :3] = (f[:, :, None] * d).sum(axis=0)
    force[:, 3] = np.where(inside, 4 * s6 * (s6 - 1), 0).sum(axis=0)
    case.expect("force", force)
