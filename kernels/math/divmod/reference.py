import numpy as np

from corpus import draw


def spread(seed, n, bits):
    """Signed numbers of all magnitudes, none of them zero."""
    i = np.arange(n)
    values = (draw(seed, i) >> (draw(seed + 1000, i) % np.uint64(bits - 1) + np.uint64(64 - bits))).astype(np.int64)
    values = np.where(values == 0, 1, values)
    if bits < 64:
        values = (values + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    return np.where(values == 0, 1, values)


def divide(a, b, bits):
    """Quotient and remainder, truncated, then those of the same bits read as unsigned, wrapped to signed ones."""
    out = []
    for x, y in zip(a.tolist(), b.tolist()):
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        uq, ur = divmod(x % 2**bits, y % 2**bits)
        out.append([wrap(v, bits) for v in (q, x - q * y, uq, ur)])
    return np.array(out)


def wrap(v, bits):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def reference(case):
    a, n = case.buffer("a"), 3000
    b, c, d = spread(212, n, 32), spread(213, n, 64), spread(214, n, 64)
    for name, values in ("b", b), ("c", c), ("d", d):
        case.input(name, values)
    case.expect("narrow", divide(a, b, 32))
    case.expect("wide", divide(c, d, 64))
