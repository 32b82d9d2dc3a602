import re

import corpus
import numpy as np

LINES, LENGTH = 1024, 32
NONE, NO_DIGIT, TOO_LONG, NO_OPERATOR = range(4)


def write(line):
    """An expression of up to 31 characters; in one line of three a character is struck by noise."""
    draws = iter(corpus.draw(521 + line, np.arange(64)).tolist())
    out = str(next(draws) % 10 ** (1 + next(draws) % 4))
    wanted = 6 + next(draws) % 20
    while len(out) < wanted:
        out += "+-*"[next(draws) % 3] + str(next(draws) % 10 ** (1 + next(draws) % 4))
    if next(draws) % 3 == 0:
        at = next(draws) % len(out)
        out = out[:at] + "+-*7x)"[next(draws) % 6] + out[at + 1:]
    return out[:LENGTH - 1].ljust(LENGTH, ";")


def evaluate(text):
    """Python's own evaluator for what is an expression, a regular expression for the place of the mistake in what is not."""
    m = re.match(r"(?:[0-9]{1,4}[-+*])*([0-9]{0,4})", text)
    after = text[m.end()]
    if not m[1]:
        return 0, NO_DIGIT, m.end()
    if after.isdigit():
        return 0, TOO_LONG, m.end()
    if after != ";":
        return 0, NO_OPERATOR, m.end()
    numbers = re.sub(r"\b0+(?=[0-9])", "", m[0])
    return eval(numbers, {}) % 2**32, NONE, m.end()


def reference(case):
    text = [write(i) for i in range(LINES)]
    case.input("text", np.frombuffer("".join(text).encode("ascii"), np.uint8))
    case.expect("out", [evaluate(t) for t in text])
