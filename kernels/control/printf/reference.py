import re

import numpy as np


def hex_float(v):
    """%a of C: as float.hex, without the mantissa's trailing zeros."""
    mantissa, exponent = float(v).hex().split("p")
    return re.sub(r"\.?0+$", "", mantissa) + "p" + exponent


def reference(case):
    whole, real = case.buffer("whole").tolist(), case.buffer("real").tolist()
    names = ["zero", "one", ""]
    out = []
    returned = np.full(64, -7)
    for t in (0, 1, 2, 32, 33, 34):
        v, d, single, name = whole[t], real[t], float(np.float32(real[t])), names[t % 3]
        bits = v % 2**32
        out.append("thread %d: [%5d|%-5d|%05d|%+d] %d %x %#X %o\n" % (t, v, v, v, v, bits, bits, bits, bits))
        out.append("  %c '%s' '%6s' '%-6.2s' 100%%\n" % (chr(97 + t % 26), name, name, name))
        out.append("  %f %.3f %12.4e %g %G %s\n" % (d, single, d, d, d * 1e-7, hex_float(single)))
        shifted = (0x123456789ABCDEF << t % 4) % 2**64
        out.append("  %d %d %x %d %d %*d\n" % (v * 10**12, 2**64 - 1 - t, shifted, v, v, 7, v))
        returned[t] = 9 + 100 * 4 + 10000 * 6
    out.append("done\n")
    returned[63] = 0
    case.text("expected.txt", "".join(out))
    case.expect("returned", returned)
