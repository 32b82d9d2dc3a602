import numpy as np

from corpus import draw

SLOTS, STORED = 16384, 10000


def reference(case):
    slot, payload = np.zeros(SLOTS, dtype=np.uint32), np.zeros(SLOTS, dtype=np.int64)
    known = {}
    for i, k in enumerate(1 + (draw(881, np.arange(STORED)) % np.uint64(1 << 20)).astype(np.int64)):
        if k in known:
            continue
        h = int(k) * 0x9e3779b1 & 0xffffffff
        at = (h ^ h >> 15) & (SLOTS - 1)
        while slot[at]:
            at = (at + 1) % SLOTS
        slot[at], payload[at], known[k] = k, i, i
    case.input("slot", slot)
    case.input("payload", payload)
    stored = np.array(list(known))
    pick = draw(882, np.arange(24000)) % np.uint64(len(stored))
    key = np.where(np.arange(24000) % 3 == 0, 1 + (draw(883, np.arange(24000)) % np.uint64(1 << 20)).astype(np.int64), stored[pick.astype(np.int64)])
    case.input("key", key)
    case.expect("out", np.array([known.get(k, -1) for k in key]))
