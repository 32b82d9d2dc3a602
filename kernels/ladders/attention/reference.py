import corpus
import numpy as np


def reference(case):
    q, k, v = (case.buffer(name).astype(np.float64) for name in "qkv")
    s = np.einsum("hid,hjd->hij", q, k) / np.sqrt(32)
    e = np.exp(s - s.max(axis=2, keepdims=True))
    case.expect("digest", corpus.digest(np.einsum("hij,hjd->hid", e / e.sum(axis=2, keepdims=True), v)))
