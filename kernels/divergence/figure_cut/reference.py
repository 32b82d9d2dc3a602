import numpy as np


def reference(case):
    """All places step by step together; what is found stays."""
    values = case.buffer("list")
    n, most = case.args()[1:3]
    value, place = values.copy(), np.arange(n)
    found, steps = np.zeros(n, int), np.full(n, most)
    searching = np.full(n, True)
    for step in range(most):
        low, high = values[(place - step - 1) % n], values[(place + step + 1) % n]
        below = searching & (low > value + 24)
        above = searching & ~below & (high > value + 20)
        found[below], found[above] = -5 * low[below], 7 * high[above]
        steps[below | above] = step
        searching &= ~(below | above)
        value += np.where(searching, (low + high) // 256, 0)
    found[searching] = 3 * value[searching]
    case.expect("out", np.stack([found, steps], 1))
