import numpy as np
from blackwell.block_scales.reference import blocks, eights, fours, numbers, powers
from hopper.wgmma_types.reference import bytes_of


def reference(case):
    """Sums as the tensor cores of Blackwell cut them where blocks of elements have scales (MMA-Sim, arXiv 2511.10909)."""
    buffer = lambda name: case.buffer(name).view(np.uint8)
    a8, b8, a4, b4 = (buffer(name) for name in ("a8", "b8", "a4", "b4"))
    sa, sb = powers(buffer("sa1")), powers(buffer("sb1"))
    case.expect("e4m3", warps(eights, bytes_of(a8, 3, 7), bytes_of(b8, 3, 7), sa, sb, -6, -6))
    case.expect("mixed", warps(eights, bytes_of(a8, 2, 15), number(b4 >> 2, 2, 1), sa, sb, -14, 0))
    case.expect("six", warps(eights, number(a4, 2, 3), number(b4, 3, 2), sa, sb, 0, -2))
    sa, sb = (np.repeat(powers(buffer(name)), 2, axis=2) for name in ("sa2", "sb2"))
    case.expect("four", warps(blocks, fours(a4), fours(b4), sa, sb))
    case.expect("sixteen", warps(blocks, fours(a4), fours(b4), numbers(buffer("sa4")), numbers(buffer("sb4"))))
    case.expect("halves", halves(b4.reshape(-1, 4)))


def warps(product, a, b, scales_a, scales_b, *least):
    """The products of warps, of 16 rows and 8 columns each."""
    of = lambda w: product(a[16 * w :][:16], b[8 * w :][:8], scales_a[:, 16 * w :][:, :16], scales_b[:, 8 * w :][:, :8], *least)
    return np.stack([of(w) for w in range(len(a) // 16)])


def number(codes, exponents, fraction):
    """Numbers of less than 8 bits in the lowest bits of bytes."""
    code = codes.astype(np.int64)
    exponent, units = code >> fraction & (1 << exponents) - 1, code & (1 << fraction) - 1
    bias = (1 << exponents - 1) - 1
    value = np.where(exponent > 0, units + (1 << fraction), units) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    return np.where(code >> exponents + fraction & 1, -value, value)


def halves(codes):
    """Words of four bytes as pairs of halves: the first two bytes as pairs of 4 bits and as numbers of 6 bits of both types, the last two as
    such of one type. In the second and the fourth pair nothing is negative, zeros neither."""
    e2m1 = lambda byte: number(np.stack([byte & 15, byte >> 4], axis=1), 2, 1)
    positive = lambda x: np.where(np.signbit(x), 0.0, x)
    first, last = codes[:, :2], codes[:, 2:]
    pairs = [e2m1(first[:, 0]), positive(e2m1(first[:, 1])), number(first, 2, 3), positive(number(first, 3, 2)), number(last, 3, 2)]
    return np.concatenate(pairs, axis=1).astype(np.float16).view(np.uint16)
