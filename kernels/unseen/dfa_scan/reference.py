import numpy as np

from corpus import draw

STATES, SYMBOLS, PIECE = 256, 16, 32


def patterns():
    """Sixty different patterns of two to four symbols."""
    found, i = [], 0
    while len(found) < 60:
        length = 2 + int(draw(912, np.array([i]))[0] % np.uint64(3))
        word = tuple(int(x) for x in draw(913, np.arange(4 * i, 4 * i + length)) % np.uint64(SYMBOLS))
        if word not in found:
            found.append(word)
        i += 1
    return found


def automaton(words):
    """The table of Aho and Corasick ("Efficient String Matching", CACM 1975) with failures resolved."""
    states = sorted({w[:n] for w in words for n in range(len(w) + 1)}, key=lambda s: (len(s), s))
    number = {s: i for i, s in enumerate(states)}
    assert len(states) <= STATES
    following, ends = np.zeros((STATES, SYMBOLS), dtype=np.int64), np.zeros(STATES, dtype=np.int64)
    for s, i in number.items():
        ends[i] = sum(s[len(s) - len(w):] == w for w in words if len(w) <= len(s))
        for symbol in range(SYMBOLS):
            tail = s + (symbol,)
            while tail not in number:
                tail = tail[1:]
            following[i, symbol] = number[tail]
    return following, ends


def reference(case):
    words = patterns()
    following, ends = automaton(words)
    case.input("next", following)
    case.input("ends", ends)
    text = case.buffer("text").astype(np.int64) & 15
    hits = np.zeros(len(text), dtype=np.int64)
    for w in words:
        match = np.ones(len(text) - len(w) + 1, dtype=bool)
        for k, symbol in enumerate(w):
            match &= text[k:len(text) - len(w) + 1 + k] == symbol
        hits[len(w) - 1:] += match
    case.expect("counts", hits.reshape(-1, PIECE).sum(axis=1))
