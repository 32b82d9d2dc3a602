def reference(case):
    rounds, n = case.buffer("rounds").tolist(), case.args()[2]
    out = []
    for i, (skip, end, last) in enumerate(case.buffer("ways").T.tolist()):
        value = i
        if not skip:
            for left in range(rounds[i], 0, -1):
                value = (value * 22695477 + rounds[(i + left) % n]) % 2**32
        if skip or not end:
            value = ((value ^ value >> 11) * 2654435761 + last) % 2**32
        out.append(value)
    case.expect("out", out)
