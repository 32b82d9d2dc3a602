import numpy as np

from corpus import unit

COUNT = 16000


def reference(case):
    i = np.arange(COUNT)
    parent = np.where(i % 500 == 0, i, (i * unit(871, i)).astype(np.int64))
    case.input("parent", parent)
    root, depth = i, np.zeros(COUNT, dtype=np.int64)
    while (parent[root] != root).any():
        depth += parent[root] != root
        root = parent[root]
    case.expect("root", root)
    case.expect("depth", depth)
