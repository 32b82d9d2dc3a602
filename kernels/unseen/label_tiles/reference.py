import numpy as np

SIDE = 16


def fill(lit, labels, y, x, name):
    """Gives a part its name, from one of its pixels on."""
    stack = [(y, x)]
    while stack:
        y, x = stack.pop()
        if 0 <= y < SIDE and 0 <= x < SIDE and lit[y, x] and labels[y, x] < 0:
            labels[y, x] = name
            stack += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]


def reference(case):
    image, (_, _, _, threshold) = case.buffer("image"), case.args()
    labels = np.full(image.shape, -1)
    for top in range(0, image.shape[0], SIDE):
        for left in range(0, image.shape[1], SIDE):
            lit = image[top:top + SIDE, left:left + SIDE] >= threshold
            tile = labels[top:top + SIDE, left:left + SIDE]
            for y, x in np.argwhere(lit):
                if tile[y, x] < 0:
                    fill(lit, tile, y, x, (y + 1) * 18 + x + 1)
    case.expect("labels", labels)
