from fractions import Fraction

import numpy as np

from corpus import fma32

TINY = np.finfo(np.float32).tiny


def reference(case):
    """Each result as a fraction, rounded once."""
    n = 2 * case.buffer("p").size
    rng = np.random.default_rng(950)
    a, b, c = (numbers(rng, n) for _ in range(3))
    b = np.where(rng.random(n) < 0.2, -a * np.float32(1 + 2.0**-20), b)  # sums that lose most of their digits
    for name, values in (("a", a), ("b", b), ("c", c)):
        case.input(name, values)
    rows = []
    for terms in (lambda a, b, c: [(a, 1), (b, 1)], lambda a, b, c: [(a, b)], lambda a, b, c: [(a, b), (c, 1)]):
        for mode, flush in (("nearest", False), ("down", False), ("up", False), ("zero", False), ("nearest", True)):
            x = [np.where(np.abs(v) < TINY, v * 0, v) if flush else v for v in (a, b, c)]
            rows.append([single(terms(*v), mode, flush) for v in zip(*(v.astype(np.float64).tolist() for v in x))])
    case.expect("out", rows)
    case.expect("steps", steps(case))
    case.expect("parts", case.buffer("p").reshape(-1, 8)[:, [0, 2, 3, 6, 7, 2, 3, 6, 7]])


def numbers(rng, n):
    """Numbers of very different sizes, with denormals, powers of two and zeros among them."""
    sizes = [rng.integers(low, high, n) for low, high in ((-3, 3), (-20, 20), (-75, -50), (-149, -120))]
    values = rng.uniform(1, 2, n) * rng.choice([-1, 1], n)
    values = np.where(rng.random(n) < 0.1, np.sign(values), values) * 2.0 ** np.choose(rng.integers(0, 4, n), sizes)
    return np.where(rng.random(n) < 0.02, np.copysign(0, values), values).astype(np.float32)


def single(terms, mode, flush):
    """A sum of products in single precision."""
    exact = sum(Fraction(x) * Fraction(y) for x, y in terms)
    signs = {np.signbit(x) != np.signbit(y) for x, y in terms}
    if exact == 0:  # of one sign where all terms are
        return np.copysign(0.0, -1 if (signs == {True} if len(signs) == 1 else mode == "down") else 1)
    sign = -1 if exact < 0 else 1
    if flush and abs(exact) < TINY:
        return np.copysign(0.0, sign)
    unit = Fraction(2) ** (max(exponent(abs(exact)), -126) - 23)
    whole, rest = divmod(abs(exact) / unit, 1)
    if rest and {"nearest": rest > Fraction(1, 2) or rest == Fraction(1, 2) and whole % 2, "down": sign < 0, "up": sign > 0, "zero": False}[mode]:
        whole += 1
    return np.copysign(float(whole * unit), sign)


def exponent(x):
    """The largest e with 2**e <= x."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def steps(case):
    """complex_step in single precision, by numbers of a pair."""
    scale, step = case.args(1)[4:]
    (a, ai), (b, bi), (c, ci) = (case.buffer(name).reshape(-1, 2).T for name in "pqr")
    low = fma32(-ai, bi, fma32(a, b, c))
    high = fma32(a, bi, fma32(ai, b, -ci))
    out = []
    for v, last in ((low, 1.0), (high, -2.0)):
        v = (fma32(v, scale, step) - np.float32(0.5)) * np.float32(0.75)
        out.append(np.abs(v) + np.float32(last))
    return np.stack(out, axis=1)
