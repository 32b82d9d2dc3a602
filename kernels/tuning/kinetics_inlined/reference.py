import numpy as np


def current(v, gain, rest):
    inward, outward = v * gain + rest, v * rest + gain
    assert inward.max() <= 4  # else it would be steep
    for k in range(1, 19):
        inward = inward * 0.25 * gain + 0.025 * k
        outward = outward * 0.25 * rest + 0.025 * k
    return 0.5 * inward + outward


def reference(case):
    v = case.buffer("in").astype(np.float64)
    for _ in range(12):
        for k in range(16):
            v = current(v, 0.5 + 0.02 * k, 0.75 - 0.016 * k)
    case.expect("out", v.astype(np.float32))
