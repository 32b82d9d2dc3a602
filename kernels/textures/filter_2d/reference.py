import numpy as np


def beyond(mode, i, n):
    """The texel that a place stands for, and whether it is one of the picture."""
    if mode == "wrap":
        return np.mod(i, n), np.full(i.shape, True)
    if mode == "mirror":
        period = np.mod(i, 2 * n)
        return np.where(period < n, period, 2 * n - 1 - period), np.full(i.shape, True)
    return np.clip(i, 0, n - 1), (i >= 0) & (i < n) if mode == "border" else np.full(i.shape, True)


def texel(picture, mode, x, y):
    (x, in_x), (y, in_y) = beyond(mode, x, picture.shape[1]), beyond(mode, y, picture.shape[0])
    return np.where(in_x & in_y, picture[y, x].astype(np.float64), 0.25)


def place(coordinate, n):
    """The first of the two texels between which a coordinate lies, and how much of the second there is, in 256ths."""
    at = coordinate.astype(np.float64) * n - 0.5
    first = np.floor(at)
    return first.astype(np.int64), np.rint((at - first) * 256) / 256


def reference(case):
    picture = case.buffer("picture")[:, :60]
    height, width = case._spec("out")["shape"][1:]
    half = np.float32(0.5)
    u = ((np.arange(width, dtype=np.float32) + half) / np.float32(64) - half)[None, :]
    v = ((np.arange(height, dtype=np.float32) + half) / np.float32(64) - half)[:, None]
    cosine, sine = np.float32(0.8), np.float32(0.6)
    x, a = place(u * cosine - v * sine + half, picture.shape[1])
    y, b = place(u * sine + v * cosine + half, picture.shape[0])
    out = []
    for mode in ("wrap", "clamp", "mirror", "border"):
        low = (1 - a) * texel(picture, mode, x, y) + a * texel(picture, mode, x + 1, y)
        high = (1 - a) * texel(picture, mode, x, y + 1) + a * texel(picture, mode, x + 1, y + 1)
        out.append((1 - b) * low + b * high)
    case.expect("out", np.array(out))
    case.expect("gathered", np.stack([texel(picture, "clamp", x + dx, y + dy) for dx, dy in ((0, 1), (1, 1), (1, 0), (0, 0))], axis=-1))
