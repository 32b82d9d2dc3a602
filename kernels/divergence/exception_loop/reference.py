import codecs

import corpus
import numpy as np

STRINGS, LENGTH, LIMIT = 1024, 40, 3
ALPHABETS = [(0x20, 0x7f), (0xa0, 0x250), (0x800, 0xd800), (0x10000, 0x10ffff)]


def write(string):
    """Words of letters of four lengths; one byte in 25 is then struck by noise."""
    draws = iter(corpus.draw(511 + string, np.arange(4 * LENGTH)).tolist())
    out = b""
    while len(out) < LENGTH:
        low, high = ALPHABETS[min(next(draws) % 8, 3) if next(draws) % 2 else 0]
        out += chr(low + next(draws) % (high - low)).encode("utf-8")
    noise = corpus.draw(7001 + string, np.arange(2 * LENGTH)).tolist()
    return bytes(noise[2 * i + 1] % 256 if noise[2 * i] % 25 == 0 else b for i, b in enumerate(out[:LENGTH]))


def read(raw):
    """What the library of Python decodes, going on one byte after the start of each mistake."""
    mistakes = []

    def note(error):
        mistakes.append(error.start)
        return "\ufffd", error.start + 1

    codecs.register_error("next byte", note)
    text = raw.decode("utf-8", "next byte")
    total, characters, seen, at = 0, 0, 0, 0
    for c in text:
        total = (total * 31 + ord(c)) % 2**32
        if seen < len(mistakes) and at == mistakes[seen]:
            seen, at = seen + 1, at + 1
        else:
            characters, at = characters + 1, at + len(c.encode("utf-8"))
        if seen > LIMIT:
            return characters, seen, total, 1
    return characters, seen, total, 0


def reference(case):
    text = [write(i) for i in range(STRINGS)]
    case.input("text", np.frombuffer(b"".join(text), np.uint8))
    case.expect("out", [read(t) for t in text])
