import corpus
import numpy as np

TEXT, NODES, READS, LENGTH = 640, 1280, 512, 32
END = 4  # a character that no read has


def build(text):
    """The suffix tree by insertion of one suffix after the other; rows are start, depth, link and the children by character."""
    start, depth, children = [0], [0], [{}]

    def add(begin, deep):
        start.append(begin)
        depth.append(deep)
        children.append({})
        return len(start) - 1

    for suffix in range(len(text)):
        node, at = 0, suffix
        while True:
            child = children[node].get(text[at])
            if child is None:
                children[node][text[at]] = add(at, len(text) - suffix)
                break
            edge, size = start[child], depth[child] - depth[node]
            same = next((k for k in range(size) if text[edge + k] != text[at + k]), size)
            if same == size:
                node, at = child, at + size
                continue
            middle = add(edge, depth[node] + same)
            children[node][text[edge]] = middle
            start[child] = edge + same
            children[middle] = {text[edge + same]: child, text[at + same]: add(at + same, len(text) - suffix)}
            break
    return start, depth, children


def links(text, start, depth, children):
    """The suffix links: of every inner node, the one whose string lacks the first character."""
    out = [0] * len(start)
    names = {b"": 0}
    stack = [(0, b"")]
    while stack:
        node, name = stack.pop()
        for child in children[node].values():
            below = name + bytes(text[start[child]:start[child] + depth[child] - depth[node]])
            if children[child]:
                names[below] = child
                stack.append((child, below))
    for name, node in names.items():
        out[node] = names[name[1:]]
    return out


def reference(case):
    letters = (corpus.draw(541, np.arange(TEXT - 1)) % np.uint64(4)).astype(np.uint8)
    # Genomes repeat themselves: stretches of the text are copies of earlier ones.
    for at, source, size in ((200, 20, 60), (330, 90, 40), (450, 210, 80), (560, 30, 50)):
        letters[at:at + size] = letters[source:source + size]
    text = letters.tolist() + [END]
    case.input("text", text)
    start, depth, children = build(text)
    rows = [(s, d, link, *(c.get(letter, -1) for letter in range(4)))
            for s, d, link, c in zip(start, depth, links(text, start, depth, children), children)]
    assert len(rows) <= NODES
    case.input("tree", rows + [(0, 0, 0, -1, -1, -1, -1)] * (NODES - len(rows)))
    # Reads are stretches of the text in which one character of 16 is another.
    places = (corpus.draw(542, np.arange(READS)) % np.uint64(TEXT - 1 - LENGTH)).astype(int)
    noise = corpus.draw(543, np.arange(READS * LENGTH)).reshape(READS, LENGTH)
    reads = letters[places[:, None] + np.arange(LENGTH)]
    reads = np.where(noise % np.uint64(16) == 0, noise // np.uint64(16) % np.uint64(4), reads).astype(np.uint8)
    case.input("reads", reads)
    genome = letters.tobytes()
    case.expect("longest", [[longest(genome, r[i:].tobytes()) for i in range(LENGTH)] for r in reads])


def longest(genome, read):
    """The length of the longest beginning of a read that is in the genome."""
    return next(n for n in range(len(read), -1, -1) if read[:n] in genome)
