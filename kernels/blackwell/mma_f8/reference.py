import numpy as np

TYPES = {"e4m3": (3, 7), "e5m2": (2, 15)}


def reference(case):
    """Products in double precision. The codes are of small multiples of one unit in both types, so that no sum is rounded."""
    rng = np.random.default_rng(970)
    a, b = codes(rng, (8, 16, 32), 0x34, 0x44), codes(rng, (8, 8, 32), 0x34, 0x44)
    ah, bh = codes(rng, (16, 16, 16), 0x38, 0x3c), codes(rng, (16, 8, 16), 0x38, 0x3c)
    for name, code in (("a", a), ("b", b), ("ah", ah), ("bh", bh)):
        case.input(name, code)
    for first in TYPES:
        for second in TYPES:
            sums = np.einsum("nik,njk->nij", values(a, first), values(b, second)) + 0.5
            case.expect(f"{first}_{second}", sums)
    case.expect("half", np.einsum("nik,njk->nij", values(ah, "e4m3"), values(bh, "e5m2")) - 2)


def codes(rng, shape, low, high):
    """Codes of a range, of both signs, and zeros."""
    code = np.where(rng.random(shape) < 0.1, 0, rng.integers(low, high, shape)) | rng.integers(0, 2, shape) << 7
    return code.astype(np.uint8)


def values(code, name):
    fraction, bias = TYPES[name]
    code = code.astype(np.int64)
    exponent, units = code >> fraction & (1 << 7 - fraction) - 1, code & (1 << fraction) - 1
    value = np.where(exponent > 0, units + (1 << fraction), units) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    return np.where(code >> 7, -value, value)
