import numpy as np


def reference(case):
    values, index = case.buffer("values"), case.buffer("index")
    inside = (index >= 0) & (index < len(values))
    value = np.where(inside, values[np.clip(index, 0, len(values) - 1)], np.float32(0))
    dark = (case.buffer("dark").astype(np.float64) / 255).astype(np.float32)
    light = np.maximum(case.buffer("light").astype(np.float64) / 127, -1).astype(np.float32)
    out = np.where((np.arange(len(index)) % 2 == 0)[:, None], dark, light)
    out[:, 0] *= value
    case.expect("out", out)
