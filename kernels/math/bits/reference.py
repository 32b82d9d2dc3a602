def code_of(x, y):
    """Interleaves the binary digits as text."""
    return int("".join(b + a for a, b in zip(f"{x:016b}", f"{y:016b}")), 2)


def permute(low, high, selector):
    pool = low.to_bytes(4, "little") + high.to_bytes(4, "little")
    return int.from_bytes(bytes(pool[selector >> 4 * k & 7] for k in range(4)), "little")


def fields(i, x, y, code):
    v = x << 16 | y
    digits = f"{v:032b}"
    both = code << 32 | v
    byte = v << i % 24 >> 24 & 255  # bits 31 to 24 after the shift
    signed = byte - 256 if byte > 127 else byte
    differences = sum(abs(a - b) for a, b in zip(v.to_bytes(4, "little"), code.to_bytes(4, "little")))
    return [(word % 2**32) for word in (
        x - y,
        int(digits[::-1], 2),
        digits.count("1") | (32 - v.bit_length()) << 8 | (v & -v).bit_length() << 16,
        permute(v, code, 0x5270 + i % 8),
        both << i % 32 >> 32,
        both >> min(i % 40, 32),
        abs(v - code) + 12345,
        differences + signed,
    )]


def reference(case):
    xs, ys = case.buffer("xs").tolist(), case.buffer("ys").tolist()
    codes = [code_of(x, y) for x, y in zip(xs, ys)]
    case.expect("codes", codes)
    case.expect("fields", [fields(i, x, y, c) for i, (x, y, c) in enumerate(zip(xs, ys, codes))])
