import numpy as np


def reference(case):
    """By sorting, with zeros of both signs told apart."""
    rng = np.random.default_rng(960)
    x = (rng.uniform(-4, 4, (24, 256)) * 2.0 ** rng.integers(-140, 20, (24, 256))).astype(np.float32)
    x[3], x[4] = 0, np.where(rng.random(256) < 0.5, -0.0, 0.0)
    x[5] = np.nan
    x[6:12][rng.random((6, 256)) < 0.01] = np.nan
    x[12:16][rng.random((4, 256)) < 0.01] = np.inf
    x[14:18][rng.random((4, 256)) < 0.01] = -np.inf
    x[18, :248] = np.nan
    case.input("x", x.view(np.uint32))  # with NaNs

    rows = []
    for row in x:
        few = np.abs(row.reshape(32, 8)[:, :3])  # of magnitudes the first three of eight count, and a NaN among them
        loud, quiet = (np.where(np.isnan(few).any(axis=1), np.nan, f(few, axis=1)) for f in (np.max, np.min))
        most, least = (np.array([extreme(part, f) for part in row.reshape(32, 8)]) for f in (max, min))
        rows.append(eight(most, least, loud, quiet))
    case.expect("rows", rows)
    warps = x.reshape(-1, 32)
    case.expect("parts", [[eight(*[warp[part::3]] * 4) for part in range(3)] for warp in warps])


def extreme(values, which):
    """The largest or smallest number, a NaN where there is none; -0 is less than 0."""
    kept = [v for v in values if not np.isnan(v)]
    return which(kept, key=lambda v: (v, not np.signbit(v))) if kept else np.nan


def eight(most, least, loud, quiet):
    loud, quiet = np.abs(loud), np.abs(quiet)
    four = [extreme(most, max), extreme(least, min), extreme(loud, max), extreme(quiet, min)]
    return four + [np.nan if np.isnan(v).any() else r for v, r in zip((most, least, loud, quiet), four)]
