"""The norm of each row of a matrix, a thread a row."""

import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def norms(matrix, out):
    row = cuda.grid(1)
    if row < matrix.shape[0]:
        total = np.float32(0)
        for k in range(matrix.shape[1]):
            total += matrix[row, k] * matrix[row, k]
        out[row] = total


matrix = np.random.default_rng(1).random((1 << 15, 64), dtype=np.float32)
out = cuda.to_device(np.zeros(len(matrix), dtype=np.float32))
norms[len(matrix) // 128, 128](cuda.to_device(matrix), out)
np.testing.assert_allclose(out.copy_to_host(), (matrix * matrix).sum(axis=1), rtol=1e-5)
print("as NumPy has it")
