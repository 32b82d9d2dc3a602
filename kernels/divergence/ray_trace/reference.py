import math

import numpy as np

F = np.float32
BALLS = [  # center, radius, color, material: 0 dull, 1 mirror, 2 lamp
    ((0, 1, 1), 1, 0.75, 1), ((-2, 0.75, 0.5), 0.75, 0.5, 0), ((1.75, 0.5, -0.5), 0.5, 0.875, 1), ((0.5, 0.25, -1.5), 0.25, 1, 2),
    ((-0.75, 0.375, -1), 0.375, 0.625, 0), ((2.5, 2.5, 3), 1, 1, 2), ((-3, 2, 3), 1.25, 0.9375, 1), ((0.25, 3, 2.5), 0.75, 0.5, 0),
]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(v):
    return v * (F(1) / np.sqrt(dot(v, v)))


def noise(state):
    while True:
        state = (state * 1664525 + 1013904223) % 2**32
        yield F(state >> 16) * F(2.0**-15) - F(1)


def scatter(draws, normal):
    while True:
        v = np.array([next(draws) for _ in range(3)], F)
        if dot(v, v) <= F(0.9375):
            return unit(normal + v)


def meet(centers, squares, start, way):
    """The ball that a ray meets first, and where; None if there is none."""
    to = (centers - start).T
    middle = dot(to, way[:, None])
    inside = squares - (dot(to, to) - middle * middle)
    able = (middle > 0) & (inside > 0)
    t = np.where(able, middle - np.sqrt(np.where(able, inside, 0)), 0)
    t[t <= F(2.0**-10)] = np.inf
    first = int(np.argmin(t))
    return (first, t[first]) if t[first] < F(1e30) else (None, F(1e30))


def trace(pixel, width, height, bounces, centers, squares, colors, materials):
    start = np.array([0, 1, -4], F)
    way = unit(np.array([(pixel % width - width // 2) * 0.0625, (height // 2 - pixel // width) * 0.0625, 2], F))
    strength, draws = F(1), noise((pixel * 747796405 + 1) % 2**32)
    for _ in range(bounces):
        ball, t = meet(centers, squares, start, way)
        floor = -start[1] * (F(1) / way[1]) if way[1] < 0 else F(0)
        if F(2.0**-10) < floor < t:
            start = start + way * floor
            strength *= F(0.25 if math.floor(start[0]) + math.floor(start[2]) & 1 else 0.75)
            way = scatter(draws, np.array([0, 1, 0], F))
        elif ball is None:
            return strength * (F(0.5) + F(0.5) * way[1])
        else:
            start = start + way * t
            normal = unit(start - centers[ball])
            strength *= colors[ball]
            if materials[ball] == 2:
                return strength * F(4)
            if materials[ball] == 1:
                way = unit(way + normal * (F(-2) * dot(way, normal)))
                continue
            way = scatter(draws, normal)
        if strength < F(0.03125):
            return F(0)
    return F(0)


def reference(case):
    centers, radii, colors, materials = (np.array(column) for column in zip(*BALLS))
    rows = np.zeros((len(BALLS), 6), F)
    rows[:, :3], rows[:, 3], rows[:, 4] = centers, radii**2, colors
    rows[:, 5] = materials.astype(np.int32).view(F)  # the bits of whole numbers
    np.save(f"{case.directory}/balls.npy", rows)
    width, height, bounces = case.args()[2:5]
    picture = [trace(p, width, height, bounces, rows[:, :3], rows[:, 3], rows[:, 4], materials) for p in range(width * height)]
    case.expect("picture", picture)
