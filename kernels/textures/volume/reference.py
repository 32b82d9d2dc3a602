import numpy as np


def place(at):
    """The two texels between which a place lies, and how much of the second there is, in 256ths."""
    first = np.floor(at - 0.5)
    return first.astype(np.int64), first.astype(np.int64) + 1, np.rint((at - 0.5 - first) * 256) / 256


def between(values, at, axis):
    """values at some places along an axis, which becomes that of the places: means of neighbours, the outermost beyond the edges."""
    low, high, share = place(at)
    last = values.shape[axis] - 1
    shape = [1] * values.ndim
    shape[axis] = -1
    share = share.reshape(shape)
    return (1 - share) * np.take(values, np.clip(low, 0, last), axis) + share * np.take(values, np.clip(high, 0, last), axis)


def reference(case):
    density = case.buffer("density").astype(np.float64) / 255
    colours = case.buffer("colours").astype(np.float64)
    height, width, _ = case._spec("image")["shape"]
    steps = int(case.args()[5])
    for axis, (count, over) in enumerate(((steps, 32), (height, 64), (width, 64))):
        offset = 0.25 if axis == 0 else 0.5
        density = between(density, (np.arange(count) + offset) / over * density.shape[axis], axis)
    image = np.zeros((height, width, 4))
    for sample in density.astype(np.float32):
        low, high, share = place((sample * np.float32(16)).astype(np.float64))
        share = share[..., None]
        colour = (1 - share) * colours[np.clip(low, 0, 15)] + share * colours[np.clip(high, 0, 15)]
        left = (1 - image[..., 3]) * colour[..., 3] / 8
        image[..., :3] += colour[..., :3] * left[..., None]
        image[..., 3] += left
    case.expect("image", image)
