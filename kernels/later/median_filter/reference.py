import numpy as np


def reference(case):
    padded = np.pad(case.buffer("in"), 1, mode="edge")
    nine = [padded[y:y + 150, x:x + 200] for y in range(3) for x in range(3)]
    case.expect("out", np.sort(np.stack(nine), axis=0)[4])
