import numpy as np

TYPES = {"e4m3": (3, 7), "e5m2": (2, 15)}


def reference(case):
    """Products in double precision. The codes are of small multiples of one unit in both types, so that no sum is rounded."""
    rng = np.random.default_rng(970)
    a, b = (codes(rng, case._spec(name)["shape"]) for name in "ab")
    case.input("a", a)
    case.input("b", b)
    for first in TYPES:
        for second in TYPES:
            sums = np.einsum("nik,njk->nij", values(a, first), values(b, second)) + 0.5
            case.expect(f"{first}_{second}", sums)
    halves = np.einsum("nik,njk->nij", values(a.reshape(16, 16, 16), "e4m3"), values(b.reshape(16, 8, 16), "e5m2")) - 2
    case.expect("half", halves)


def codes(rng, shape):
    """Codes of numbers from 1/4 to 4, of both signs, and zeros, in either type."""
    magnitude = rng.integers(0x34, 0x44, shape)
    code = np.where(rng.random(shape) < 0.1, 0, magnitude) | rng.integers(0, 2, shape) << 7
    return code.astype(np.uint8)


def values(code, name):
    fraction, bias = TYPES[name]
    code = code.astype(np.int64)
    exponent, units = code >> fraction & (1 << 7 - fraction) - 1, code & (1 << fraction) - 1
    value = np.where(exponent > 0, units + (1 << fraction), units) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    return np.where(code >> 7, -value, value)
