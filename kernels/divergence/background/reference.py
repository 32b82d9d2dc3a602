import corpus
import numpy as np

MODES, ONE = 4, 4096


def see(modes, value):
    """Takes in a brightness; whether it is foreground. Modes are [weight, mean, variance], heaviest first."""
    for k, mode in enumerate(modes):
        mode[0] -= mode[0] // 16
        off = value - mode[1]
        if off * off < 9 * mode[2]:
            front = sum(m[0] for m in modes[:k]) >= ONE * 3 // 4
            mode[:] = mode[0] + ONE // 16, mode[1] + off // 8, max(256, mode[2] + (off * off - mode[2]) // 8)
            break
        if mode[0] < 32:
            del modes[k:]
            mode = None
            break
    else:
        del modes[MODES - 1:]
        mode = None
    if mode is None:
        mode, front, place = [ONE // 16, value, 4096], True, len(modes)
    else:
        place = k
        del modes[k]
    while place > 0 and modes[place - 1][0] < mode[0]:  # it passes the lighter ones before it
        place -= 1
    modes.insert(place, mode)
    return front


def reference(case):
    frames, height, width = 16, 32, 32
    y, x = np.indices((height, width))
    noise = corpus.draw(561, np.arange(frames * height * width)).reshape(frames, height, width)
    film = 90 + 40 * np.sin(x / 5.0) * np.cos(y / 7.0) + (noise % np.uint64(13)).astype(int)
    flicker = (x // 4 + y // 4) % 3 == 0  # leaves in the wind
    for f in range(frames):
        film[f][flicker & (noise[f] // np.uint64(16) % np.uint64(2) == 1)] += 70
        for n in range(4):  # four walkers
            film[f][(abs(x - (3 + 7 * n + f * (n - 1)) % width) < 3) & (abs(y - 6 - 6 * n) < 4)] = 30 + 50 * n
    film = film.astype(int)
    case.input("film", film)
    modes = [[] for _ in range(height * width)]
    moving = [[see(m, int(value) * 16) for m, value in zip(modes, frame.ravel())] for frame in film]
    case.expect("moving", np.array(moving).astype(int))
    case.expect("used", [len(m) for m in modes])
