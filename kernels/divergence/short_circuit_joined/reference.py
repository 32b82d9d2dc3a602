import numpy as np


def reference(case):
    sender, to, port, length = case.buffer("packets").T.astype(np.uint32)
    opened, trusted, quota, banned, keys = (case.buffer(b) for b in ("open", "trusted", "quota", "banned", "keys"))
    passed = (opened[port] != 0) & (trusted[sender] != 0)
    passed |= (quota[sender] > length) & (banned[to] == 0) & (keys[to] % 3 == 0)
    signature = keys[sender] * np.uint32(2654435761)
    signature ^= signature >> 15
    signature = signature * np.uint32(2246822519) + length
    signature ^= signature >> 13
    reason = keys[port] ^ keys[port] << 7
    reason = reason + sender
    reason ^= reason >> 9
    case.expect("verdicts", np.where(passed, signature | 1, reason & ~np.uint32(1)))
