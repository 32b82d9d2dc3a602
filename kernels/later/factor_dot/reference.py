import numpy as np


def reference(case):
    user, item, users, items = (case.buffer(name) for name in ("user", "item", "users", "items"))
    sums = (users.astype(np.float64)[user] * items.astype(np.float64)[item]).sum(axis=1)
    case.expect("rating", 1 / (1 + np.exp(-sums)))
