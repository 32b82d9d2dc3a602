import numpy as np
from blackwell.tensor_memory.reference import narrow
from hopper.wgmma_types.reference import bytes_of, parts


def reference(case):
    """Sums as the tensor cores of Blackwell cut them where blocks of elements have scales (MMA-Sim, arXiv 2511.10909)."""
    buffer = lambda name: case.buffer(name).view(np.uint8)
    a, b, sa, sb = buffer("a8"), buffer("b8"), powers(buffer("sa1")), powers(buffer("sb1"))
    case.expect("e4m3", eights(bytes_of(a, 3, 7), bytes_of(b, 3, 7), sa, sb, -6, -6))
    a4, b4 = buffer("a4"), buffer("b4")
    case.expect("mixed", eights(bytes_of(a, 2, 15), narrow(b4, 2, 1), sa, sb, -14, 0))
    case.expect("negative", eights(narrow(a4, 2, 3), -narrow(b4, 3, 2), sa, sb, 0, -2))
    a4, b4 = fours(a4), fours(b4)
    case.expect("four", blocks(a4, b4, *(np.repeat(s, 2, axis=2) for s in (powers(buffer("sa2")), powers(buffer("sb2"))))))
    sa, sb = buffer("sa4"), buffer("sb4")
    case.expect("sixteen", blocks(a4, b4, numbers(sa), numbers(sb)))
    case.expect("power", blocks(a4, b4, powers(sa), powers(sb)))


def powers(codes):
    """Significands and exponents of ue8m0."""
    return np.stack([np.ones(codes.shape), codes.astype(np.int64) - 127])


def numbers(codes):
    """Significands and exponents of ue4m3."""
    return np.stack(parts(bytes_of(codes, 3, 7), -6))


def fours(codes):
    """Numbers of 4 bits, two a byte."""
    code = np.stack([codes & 15, codes >> 4], axis=2).reshape(codes.shape[0], -1)
    return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[code & 7] * np.where(code >> 3, -1, 1)


def eights(a, b, scales_a, scales_b, least_a, least_b):
    """Steps of 32 elements: the exponents of the scales are added to those of the products."""
    (sa, ea), (sb, eb) = parts(a, least_a), parts(b, least_b)
    ea, eb = ea + np.repeat(scales_a[1], 32, axis=1), eb + np.repeat(scales_b[1], 32, axis=1)
    c = np.zeros((len(a), len(b)))
    for k in range(0, a.shape[1], 32):
        step = slice(k, k + 32)
        c = added(c, sa[:, None, step] * sb[None, :, step], ea[:, None, step] + eb[None, :, step], 25)
    return c.astype(np.float32)


def blocks(a, b, scales_a, scales_b):
    """Steps of 64 elements: products of 16 are summed up, multiplied with the significands of the scales, and count with their exponents."""
    c = np.zeros((len(a), len(b)))
    sums = (a.reshape(len(a), 1, -1, 16) * b.reshape(1, len(b), -1, 16)).sum(axis=3)
    s = sums * scales_a[0][:, None] * scales_b[0][None]
    e = scales_a[1][:, None] + scales_b[1][None]
    for k in range(0, sums.shape[2], 4):
        c = added(c, s[:, :, k : k + 4], e[:, :, k : k + 4], 35)
    return c.astype(np.float32)


def added(c, s, e, align):
    """Terms, significands with exponents, cut below the largest exponent of them and of the addend; the sum is cut to single precision."""
    sc, ec = parts(c, -126)
    largest = np.maximum(e.max(axis=2), ec)
    total = np.trunc(s * 2.0 ** (align + e - largest[:, :, None])).sum(axis=2) + np.trunc(sc * 2.0 ** (align + ec - largest))
    s, e = parts(total * 2.0 ** (largest - align), -126)
    return np.trunc(s * 2.0**23) * 2.0 ** (e - 23)
