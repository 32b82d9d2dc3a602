import corpus
import numpy as np


def reference(case):
    lengths = np.minimum(4 + (corpus.unit(114, np.arange(8192, dtype=np.uint64)) ** 3 * 96).astype(np.int64), 96)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    assert starts[-1] <= 262144
    case.input("starts", starts)
    products = case.buffer("values").astype(np.float64) * case.buffer("x")[case.buffer("cols")]
    case.expect("digest", corpus.digest(np.add.reduceat(products[:starts[-1]], starts[:-1])))
