import numpy as np

from corpus import draw

ROWS, LONGEST = 3000, 32


def reference(case):
    lengths = (draw(24, np.arange(ROWS)) % np.uint64(LONGEST)).astype(np.int64)  # some rows are empty
    start = np.concatenate([[0], np.cumsum(lengths)])
    case.input("start", start)
    column, value, x = (case.buffer(name) for name in ("column", "value", "x"))
    product = value[: start[-1]].astype(np.float64) * x[column[: start[-1]]]
    row = np.repeat(np.arange(ROWS), lengths)
    case.expect("y", np.bincount(row, weights=product, minlength=ROWS))
