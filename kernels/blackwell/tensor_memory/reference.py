import numpy as np
from hopper.wgmma_types.reference import bfloats, bytes_of, parts, product


def reference(case):
    """Exact integers; sums of floating point cut as the tensor cores of Blackwell cut them, all types alike (MMA-Sim, arXiv 2511.10909)."""
    a, b, rows = case.buffer("ah"), case.buffer("bh"), case.buffer("bk")
    case.expect("half", product(a, b.T, 16, 25, 23, -14, -14))
    case.expect("negative", product(-a, b.T, 16, 25, 23, -14, -14))
    case.expect("small", product(a[:64], b.T, 16, 25, 23, -14, -14))
    case.expect("tensor", product(a, rows, 16, 25, 23, -14, -14))
    case.expect("sums", halves(a, b.T, 16, 25).view(np.uint16))
    a, b = (bfloats(case.buffer(name)) for name in ("ab", "bb"))
    case.expect("bfloat", product(a, b.T, 16, 25, 23, -126, -126))
    a, b = ((case.buffer(name).view(np.uint32) & 0xffffe000).view(np.float32) for name in ("at", "bt"))
    case.expect("tfloat", product(a, b.T, 8, 25, 23, -126, -126))
    a, b = case.buffer("a8").view(np.uint8), case.buffer("b8").view(np.uint8)
    case.expect("e4m3", product(bytes_of(a, 3, 7), bytes_of(b, 3, 7).T, 32, 25, 23, -6, -6))
    case.expect("mixed", product(bytes_of(a, 2, 15), bytes_of(b, 3, 7).T, 32, 25, 23, -14, -6))
    case.expect("e2m1", product(narrow(a, 2, 1), narrow(b, 2, 1).T, 32, 25, 23, 0, 0))
    case.expect("six", product(narrow(a, 2, 3), narrow(b, 3, 2).T, 32, 25, 23, 0, -2))
    columns = b.view(np.int8).astype(np.int32).T
    case.expect("signed", a.view(np.int8).astype(np.int32) @ columns)
    case.expect("unsigned", case.buffer("ab").view(np.uint8).astype(np.int32) @ columns)
    case.expect("shapes", shapes())
    case.expect("copies", copies(case.buffer("rows")))


def halves(a, b, depth, align):
    """As product, with sums that are rounded to half precision after each step."""
    c = np.zeros((a.shape[0], b.shape[1]), np.float16)
    (sa, ea), (sb, eb) = parts(a, -14), parts(b, -14)
    for k in range(0, a.shape[1], depth):
        s = sa[:, k : k + depth, None] * sb[None, k : k + depth]
        e = ea[:, k : k + depth, None] + eb[None, k : k + depth]
        sc, ec = parts(c, -14)
        largest = np.maximum(e.max(axis=1), ec)
        total = np.trunc(s * 2.0 ** (align + e - largest[:, None])).sum(axis=1) + np.trunc(sc * 2.0 ** (align + ec - largest))
        c = (total * 2.0 ** (largest - align)).astype(np.float16)
    return c


def narrow(codes, exponents, fraction):
    """Numbers of less than 8 bits: of each 16 bytes the first have 16 of them, side by side."""
    width = 1 + exponents + fraction
    bits = np.unpackbits(codes.reshape(codes.shape[0], -1, 16), axis=2, bitorder="little")[:, :, : 16 * width]
    code = (bits.reshape(codes.shape[0], -1, 16, width).astype(np.int64) << np.arange(width)).sum(axis=3).reshape(codes.shape[0], -1)
    exponent, units = code >> fraction & (1 << exponents) - 1, code & (1 << fraction) - 1
    bias = (1 << exponents - 1) - 1
    value = np.where(exponent > 0, units + (1 << fraction), units) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction)
    return np.where(code >> width - 1, -value, value)


def placed(shape, register):
    """Lane and column that a thread of a warp has in a register."""
    t = np.arange(32)
    if shape == "64":
        return t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * register
    if shape == "128":
        return t // 4 + 8 * (register % 2), t % 4 + register // 2 * 4
    if shape == "256":
        return t // 4 + register % 4 // 2 * 8, 2 * (t % 4) + register % 2 + register // 4 * 8
    if shape == "32x2":
        return t % 16, register + t // 16 * 16
    return t, np.full(32, register)


def shapes():
    lane, column = np.meshgrid(np.arange(128), np.arange(32), indexing="ij")
    cells = (lane << 16 | column).astype(np.uint32)
    out = np.zeros((9, 128, 8), np.uint32)

    def load(cells, shape):
        got = np.zeros((128, 8), np.uint32)
        for warp in range(4):
            for r in range(8):
                lanes, columns = placed(shape, r)
                got[32 * warp : 32 * warp + 32, r] = cells[32 * warp + lanes, columns]
        return got

    for i, shape in enumerate(["32", "64", "128", "256", "32x2"]):
        out[i] = load(cells, shape)
    packed = (cells[:, ::2] & 0xffff) | cells[:, 1::2] << 16
    out[5], out[6] = load(packed, "32"), load(packed, "256")
    values = np.arange(1024, dtype=np.uint32).reshape(128, 8)
    for warp in range(4):
        for r in range(8):
            lanes, columns = placed("128", r)
            cells[32 * warp + lanes, columns] = values[32 * warp : 32 * warp + 32, r]
    out[7] = cells[:, :8]
    cells[:, :16:2], cells[:, 1:16:2] = out[7] & 0xffff, out[7] >> 16
    out[8] = cells[:, :8]
    return out


def copies(rows):
    """Rows of 16 bytes are the first units of the rows: the second ones lie 2048 bytes behind, eight rows together."""
    staged = rows.reshape(2, 16, 8, 4)  # the unit of the row, eight rows, row, words
    units = staged.reshape(2, 128, 4)
    out = np.zeros((5, 128, 8), np.uint32)
    cells = np.zeros((128, 8), np.uint32)
    cells[:, :4] = np.tile(units[0, :32], (4, 1))
    out[0] = cells
    cells[:, :4] = np.tile(units[0, :64], (2, 1))
    out[1] = cells
    cells[:, :4] = np.concatenate([units[0, :32], units[0, :32], units[0, 32:64], units[0, 32:64]])
    out[2] = cells
    cells[:, :4] = units[0]
    out[3] = cells
    cells[:, 4:] = units[1]
    out[4] = cells
    return out
