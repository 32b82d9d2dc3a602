import numpy as np


def reference(case):
    scaled = case.buffer("in") * np.float32(48)
    quantized = np.clip(np.rint(scaled), -128, 127).astype(np.int64)
    case.expect("bytes", quantized)
    case.expect("sums", quantized @ case.buffer("weights").astype(np.int64))
