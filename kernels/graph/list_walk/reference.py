import numpy as np

from corpus import draw, permutation

NODES, LISTS = 2000, 300


def reference(case):
    place = permutation(NODES, 141)  # where the nodes lie, so that neighbours in a list are far apart
    owner = (draw(142, np.arange(NODES)) % np.uint64(LISTS - 10)).astype(int)  # the last lists stay empty
    nodes = np.zeros((NODES, 4), np.int64)
    nodes[:, 2] = draw(143, np.arange(NODES)) % np.uint64(2_000_001)
    nodes[:, 2] -= 1_000_000
    nodes[:, 3] = draw(144, np.arange(NODES)) % np.uint64(50_000)
    case.input("nodes", nodes)

    links, heads, sums = [], [], np.zeros(LISTS, np.int64)
    for i in range(LISTS):
        members = [int(place[n]) for n in np.flatnonzero(owner == i)]
        heads += [(8 * i, "nodes", 16 * members[0])] if members else []
        links += [(16 * a, "nodes", 16 * b) for a, b in zip(members, members[1:])]
        sums[i] = sum(int(nodes[n, 2]) * int(nodes[n, 3]) + rank for rank, n in enumerate(members))
    case.text("next.tsv", "".join("%d\t%s\t%d\n" % link for link in sorted(links)))
    case.text("heads.tsv", "".join("%d\t%s\t%d\n" % head for head in heads))
    case.expect("sums", sums)
