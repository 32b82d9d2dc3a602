import math


def reference(case):
    """The number of lattice paths is a binomial coefficient."""
    right, down, choice = (case.buffer(name).tolist() for name in ("right", "down", "choice"))
    paths = [math.comb(r + d, d) for r, d in zip(right, down)]
    operations = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        max,
        lambda a, b: b * sum(a**k for k in range(5)),
    ]
    results = [operations[c](a, i) for i, (c, a) in enumerate(zip(choice, paths))]
    case.expect("paths", paths)
    case.expect("results", [(v + 2**31) % 2**32 - 2**31 for v in results])
