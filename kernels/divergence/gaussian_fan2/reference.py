import corpus


def reference(case):
    factors, a, b = case.buffer("factors"), case.buffer("a"), case.buffer("b")
    step = case.args()[4]
    column = -factors[step + 1:, step]
    a[step + 1:, step:] = corpus.fma32(column[:, None], a[step, step:], a[step + 1:, step:])
    b[step + 1:] = corpus.fma32(column, b[step], b[step + 1:])
    case.expect("a", a)
    case.expect("b", b)
