import re

# Numbers take all the digits there are, so that what follows them is never another digit.
TOKENS = [
    (0, re.compile(r"[A-Za-z][A-Za-z0-9]*")),
    (2, re.compile(r"[0-9]+\.[0-9]*")),
    (1, re.compile(r"[0-9]+")),
    (3, re.compile(r'"[^"]*"')),
]


def tokens(line):
    counts, at = [0, 0, 0, 0], 0
    while at < len(line):
        if line[at] == "#":
            return counts + [at + 1]
        if line[at] == '"' and '"' not in line[at + 1:]:
            return counts + [-len(line)]
        kind, end = next(((k, m.end()) for k, r in TOKENS if (m := r.match(line, at))), (None, at + 1))
        if kind in (1, 2) and end < len(line) and line[end].isalpha():
            return counts + [-(end + 1)]
        if kind is not None:
            counts[kind] += 1
        at = end
    return counts + [at]


def reference(case):
    case.expect("counts", [tokens(bytes(line).decode("ascii")) for line in case.buffer("text")])
