import numpy as np

from corpus import draw


def reference(case):
    a = np.sort((draw(651, np.arange(30000)) % np.uint64(1000000)).astype(np.int64))
    b = np.sort((draw(652, np.arange(20000)) % np.uint64(1000000)).astype(np.int64))
    case.input("a", a)
    case.input("b", b)
    case.expect("out", np.sort(np.concatenate([a, b])))
