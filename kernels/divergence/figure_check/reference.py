NEXT = {0: (1, 3), 1: (2, 3), 2: (4, 5), 3: (4, 5), 4: (7, 6), 5: (6, 7), 6: (7, 7)}


def reference(case):
    """Walks the graph and writes the numbers of the blocks down as octal digits; the sixth has an input that goes elsewhere."""
    out = []
    for ways in case.buffer("ways").T.tolist():
        block, path, extra = 0, "1", 0
        while block != 7:
            path += str(block)
            if block == 6:
                extra = 512 * ways[6]
            block = NEXT[block][ways[block]]
        out.append(int(path + "7", 8) + extra)
    case.expect("out", out)
