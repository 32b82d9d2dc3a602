import numpy as np


def reference(case):
    """All filters of all pixels, of which each pixel takes its own."""
    curve, v = case.buffer("curve").astype(np.int64), case.buffer("pixels").astype(np.int64)

    def tone(v):
        share = v % 16
        mixed = curve[v % 256] * share + curve[v // 256 % 256] * (16 - share) >> 4
        mixed ^= mixed << 3
        mixed += curve[mixed % 256]
        return (mixed ^ mixed >> 5) % 65536

    for choices in case.buffer("choices"):
        d = abs(v % 256 - v // 256 % 256)
        v = np.choose(choices, [
            tone(v + v // 4) + 1, 3 * tone(65535 - v), tone((5 * v + curve[v % 64]) // 8) ^ 0x55, v, np.where(d > 64, tone(257 * d), d),
        ]) % 65536
    case.expect("pixels", v)
