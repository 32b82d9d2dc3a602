NEXT = {1: (2, 3), 2: (3, None), 3: (4, 5), 4: (5, None), 5: (None, None)}


def reference(case):
    """Walks the graph of the paper and writes the numbers of the blocks down, that of the fifth with its own input."""
    out = []
    for ways in case.buffer("ways").T.tolist():
        block, path = 1, ""
        while block:
            path += str(block + (block == 5) * ways[4])
            block = NEXT[block][ways[block - 1]]
        out.append(int(path))
    case.expect("out", out)
