import numpy as np

MASK = 2**64 - 1


def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def reference(case):
    hashes, ones = [], []
    for state in case.buffer("keys").tolist():
        h = 0
        for _ in range(12):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            h = ((h << 5 | h >> 59) & MASK) ^ mix(state)
        hashes.append(h)
        ones.append(h.bit_count() + 100 * (64 - h.bit_length()))
    case.expect("hashes", np.array(hashes, np.uint64))
    case.expect("ones", ones)
