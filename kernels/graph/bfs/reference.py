import numpy as np

from corpus import draw

NODES, LARGEST = 6000, 9


def reference(case):
    degree = (draw(41, np.arange(NODES)) % np.uint64(LARGEST)).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(degree)])
    level = np.full(NODES, -1)
    level[17] = 0
    case.input("first", first)
    case.input("level", level)
    edges = case.buffer("edges")
    changed = np.zeros(8, np.int64)
    frontier = [17]
    for current in range(len(case.launch["launches"])):
        reached = set()
        for node in frontier:
            reached.update(int(v) for v in edges[first[node]:first[node + 1]] if level[v] < 0)
        frontier = sorted(reached)
        level[frontier] = current + 1
        changed[current] = bool(frontier)
    case.expect("level", level)
    case.expect("changed", changed)
