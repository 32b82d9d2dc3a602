import numpy as np


def reference(case):
    cost = case.buffer("cost").astype(np.int64)
    best = cost[0]
    for row in cost[1:]:
        edge = np.pad(best, 1, mode="edge")
        best = row + np.minimum(np.minimum(edge[:-2], edge[1:-1]), edge[2:])
    case.expect("even", best)
