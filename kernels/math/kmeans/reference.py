import numpy as np

from corpus import fma32


def reference(case):
    points, centers = case.buffer("points"), case.buffer("centers")
    distance = np.zeros((len(points), len(centers)), np.float32)
    for f in range(points.shape[1]):
        d = points[:, f, None] - centers[None, :, f]
        distance = fma32(d, d, distance)
    membership = distance.argmin(axis=1)
    case.expect("membership", membership)
    case.expect("members", np.bincount(membership, minlength=len(centers)))
