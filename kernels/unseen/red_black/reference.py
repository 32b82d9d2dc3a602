import numpy as np


def reference(case):
    field, source = case.buffer("field").astype(np.int64), case.buffer("source").astype(np.int64)
    height, width = field.shape
    rows, columns = np.mgrid[1:height - 1, 1:width - 1]
    for color in range(2):
        around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
        new = (around + 4 * field[1:-1, 1:-1] + source[1:-1, 1:-1]) >> 3
        own = (columns - 1) % 2 == (rows + color) % 2
        field[1:-1, 1:-1] = np.where(own, new, field[1:-1, 1:-1])
    case.expect("field", field)
