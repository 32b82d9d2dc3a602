import numpy as np


def reference(case):
    """Exact integers; sums of floating point cut as the tensor cores of Hopper cut them (MMA-Sim, arXiv 2511.10909)."""
    a, b = case.buffer("ah"), case.buffer("bh")
    case.expect("half", product(a, b.T, 16, 25, 23, -14, -14))
    case.expect("negative", product(-a, b.T, 16, 25, 23, -14, -14))
    case.expect("register", product(a, b, 16, 25, 23, -14, -14))
    a, b = (bfloats(case.buffer(name)) for name in ("ab", "bb"))
    case.expect("bfloat", product(a, b.T, 16, 25, 23, -126, -126))
    a, b = ((case.buffer(name).view(np.uint32) & 0xffffe000).view(np.float32) for name in ("at", "bt"))
    case.expect("tfloat", product(a, b.T, 8, 25, 23, -126, -126))
    a, b = case.buffer("a8").view(np.uint8), case.buffer("b8").view(np.uint8)
    case.expect("e4m3", product(bytes_of(a, 3, 7), bytes_of(b, 3, 7).T, 32, 13, 13, -6, -6))
    case.expect("mixed", product(bytes_of(a, 2, 15), bytes_of(b, 3, 7).T, 32, 13, 13, -14, -6))
    columns = a.view(np.int8).astype(np.int32).T
    case.expect("signed", b.view(np.int8).astype(np.int32) @ columns)
    case.expect("unsigned", b.astype(np.int32) @ columns)


def bfloats(codes):
    return (codes.astype(np.uint32) << 16).view(np.float32)


def bytes_of(codes, fraction, bias):
    """The numbers of 8-bit codes without infinities and NaNs."""
    code = codes.astype(np.int64)
    exponent, units = code >> fraction & (1 << 7 - fraction) - 1, code & (1 << fraction) - 1
    value = np.where(exponent > 0, units + (1 << fraction), units) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    return np.where(code >> 7, -value, value)


def parts(x, least):
    """Significands and exponents; a zero has the least exponent of single precision."""
    x = x.astype(np.float64)
    exponent = np.maximum(np.frexp(x)[1] - 1, least)
    exponent = np.where(x == 0, -126, exponent)
    return x * 2.0 ** -exponent, exponent


def product(a, b, depth, align, keep, least_a, least_b):
    """A product in steps of the depth of an instruction. All terms of a step are cut below the largest exponent."""
    c = np.zeros((a.shape[0], b.shape[1]))
    (sa, ea), (sb, eb) = parts(a, least_a), parts(b, least_b)
    for k in range(0, a.shape[1], depth):
        step = slice(k, k + depth)
        s = sa[:, step, None] * sb[None, step]
        e = ea[:, step, None] + eb[None, step]
        sc, ec = parts(c, -126)
        largest = np.maximum(e.max(axis=1), ec)
        total = np.trunc(s * 2.0 ** (align + e - largest[:, None])).sum(axis=1) + np.trunc(sc * 2.0 ** (align + ec - largest))
        s, e = parts(total * 2.0 ** (largest - align), -126)
        c = np.trunc(s * 2.0**keep) * 2.0 ** (e - keep)
    return c.astype(np.float32)
