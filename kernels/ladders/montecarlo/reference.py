import numpy as np


def reference(case):
    i = (np.arange(65536, dtype=np.uint32) + np.uint32(1)) * np.uint32(2654435769)
    i = (i ^ i >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    state = (i ^ i >> np.uint32(13)) | np.uint32(1)

    def step():
        nonlocal state
        state = state ^ state << np.uint32(13)
        state = state ^ state >> np.uint32(17)
        state = state ^ state << np.uint32(5)
        return state.astype(np.float64)

    normals = np.zeros(65536)
    for _ in range(16):
        u, v = (step() + 1) / 2.0**32, step() / 2.0**32
        normals += np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v)
    value = 100 * np.exp(0.0005 * 16 + 0.05 * normals)
    case.expect("sum", np.array([np.maximum(value - 100, 0).sum()]))
