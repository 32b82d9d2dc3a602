import zlib

import numpy as np


def reference(case):
    packets = case.buffer("packets").astype("<u4")
    case.expect("sums", np.array([zlib.crc32(row.tobytes()) for row in packets], np.int64))
