import numpy as np

from corpus import draw

MIDDLE, LEAVES, ORDER = 8, 96, 64
NOBODY = 2**31 - 1


def reference(case):
    """Builds the tree from sorted keys, and finds records by searching the sorted keys."""
    count = LEAVES * 50
    keys = np.cumsum(draw(131, np.arange(count)).astype(np.int64) % 97 % 19 + 1)  # distinct, ascending
    fill = np.full(LEAVES, 50)
    fill[::2] += 12
    fill[1::2] -= 12
    first = np.concatenate([[0], np.cumsum(fill)])
    nodes = np.full((1 + MIDDLE + LEAVES, 2 * ORDER + 1), NOBODY)
    per_middle = LEAVES // MIDDLE
    for leaf in range(LEAVES):
        own = keys[first[leaf]:first[leaf + 1]]
        nodes[1 + MIDDLE + leaf, :len(own)] = own
        nodes[1 + MIDDLE + leaf, ORDER + 1:ORDER + 1 + len(own)] = 1000 + np.arange(first[leaf], first[leaf + 1])
    for node, child, step, children in [(0, 1, per_middle, MIDDLE)] + [
            (1 + m, 1 + MIDDLE + m * per_middle, 1, per_middle) for m in range(MIDDLE)]:
        leaf = 0 if node == 0 else (node - 1) * per_middle
        bounds = keys[first[leaf:leaf + children * step:step]]
        nodes[node, :children] = bounds
        nodes[node, ORDER + 1:ORDER + 1 + children] = child + np.arange(children)
    case.input("nodes", nodes)

    present = keys[draw(133, np.arange(80)) % np.uint64(count)]
    absent = draw(134, np.arange(80)).astype(np.int64) % (keys[-1] - keys[0]) + keys[0]
    queries = np.stack([present, absent], axis=1).reshape(-1)
    case.input("queries", queries)

    at = np.searchsorted(keys, queries, side="right") - 1
    records = case.buffer("records")
    case.expect("answers", np.where(keys[at] == queries, records[1000 + at], -1))
    case.expect("current", 1 + MIDDLE + np.searchsorted(first, at, side="right") - 1)
