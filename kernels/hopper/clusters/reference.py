import numpy as np


def reference(case):
    """Counts; what the ring of four blocks hands on; boxes, rows and the sum of what was handed on."""
    x = case.buffer("x")
    case.expect("bins", np.bincount(x % 256, minlength=256).astype(np.uint32))

    rows, ring = case.buffer("rows"), np.zeros((16, 384), np.uint32)
    t = np.arange(128)
    for block in range(16):
        by, bx = block // 4, block % 4

        def of(rank):  # the block with a rank in this cluster
            return (by // 2 * 2 + rank // 2) * 4 + bx // 2 * 2 + rank % 2

        me = by % 2 * 2 + bx % 2
        before, twice = of((me + 3) % 4), of((me + 2) % 4)
        ring[block, :128] = rows[before][t ^ 1]
        ring[block, 128:256] = rows[before][127 - t]
        ring[block, 256:] = 3 * rows[twice][t ^ 1] + t + (1 + 2 + 3 + 4) - (me + 1)
    case.expect("ring", ring)

    tensor, data = np.zeros((16, 32), np.uint32), case.buffer("bytes")
    tensor[:14] = case.buffer("tensor")[:14]
    out, total = np.zeros((8, 256), np.uint32), np.zeros(64, np.float32)
    for block in range(8):
        box = tensor[block // 4 * 8:][:8].reshape(8, 8, 4)
        swizzled = np.stack([box[y][np.arange(8) ^ y] for y in range(8)]).reshape(256)
        out[block] = swizzled ^ data[block]
        total += (data[block][:64] % 1024).astype(np.float32)
    case.expect("out", out)
    case.expect("sum", total)
