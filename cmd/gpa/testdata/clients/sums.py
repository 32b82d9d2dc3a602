"""A program of numba-cuda: sums of blocks by shared memory and an atomic, in a stream, held against NumPy. The order of the
atomics changes the last bits. Prints the sum."""

import numba
import numpy as np
from numba import cuda

THREADS = 128


@cuda.jit(lineinfo=True)
def sums(values, total):
    shared = cuda.shared.array(THREADS, numba.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    shared[t] = values[i] if i < values.size else 0
    cuda.syncthreads()
    step = THREADS // 2
    while step > 0:
        if t < step:
            shared[t] += shared[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        cuda.atomic.add(total, 0, shared[0])


values = 1 / (1 + np.arange(5000, dtype=np.float32))
stream = cuda.stream()
total = cuda.to_device(np.zeros(1, dtype=np.float32), stream=stream)
sums[(values.size + THREADS - 1) // THREADS, THREADS, stream](cuda.to_device(values, stream=stream), total)
result = total.copy_to_host(stream=stream)
stream.synchronize()
assert abs(result[0] - values.sum()) < 1e-4, result
print(f"the sum is {result[0]:.3f}")
