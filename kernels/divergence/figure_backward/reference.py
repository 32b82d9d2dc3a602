def reference(case):
    table, out = case.buffer("table").tolist(), []
    for i, way in enumerate(case.buffer("ways").tolist()):
        value, block, last = i, 3 if way else 2, {2: 0, 3: 0}
        while block in last:
            if block == 2:
                value = (value * 1664525 + 1013904223) % 2**32
                value ^= table[value >> 24]
                following = 4 if value < 2**27 else 3
            else:
                value ^= value << 7 & 0xffffffff
                value = (value + table[value % 256]) % 2**32
                following = 2 if value < 2**31 else 3 if value < 0xf0000000 else 4
            last[block] = value
            block = following
        out.append((last[2], last[3]))
    case.expect("out", out)
