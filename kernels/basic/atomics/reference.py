import numpy as np

TOTALS = np.dtype([
    ("sum", "i4"), ("smallest", "i4"), ("largest", "i4"), ("all_bits", "u4"), ("any_bits", "u4"), ("odd_bits", "u4"),
    ("wrapped_up", "u4"), ("wrapped_down", "u4"), ("wide_sum", "u8"), ("wide_largest", "u8"),
    ("float_sum", "f4"), ("float_largest", "f4"), ("double_sum", "f8")], align=True)


def reference(case):
    totals = np.zeros(1, TOTALS)
    totals["all_bits"] = 0xFFFFFFFF
    totals["wrapped_down"] = 700
    case.input("totals", totals.view(np.int32))

    v = case.buffer("in").astype(np.int64)
    totals["sum"] = v.sum()
    totals["smallest"] = min(0, v.min() - 500)
    totals["largest"] = v.max()
    totals["all_bits"] = np.bitwise_and.reduce(v | 0xFFFF0000)
    totals["any_bits"] = np.bitwise_or.reduce(v << 3)
    totals["odd_bits"] = np.bitwise_xor.reduce(v * 2654435761 % 2**32)
    totals["wrapped_up"] = len(v) % 1000
    totals["wrapped_down"] = (700 - len(v)) % 1501
    totals["wide_sum"] = v.sum() * 1000000007
    totals["wide_largest"] = v.max() << 33
    totals["float_sum"] = 0.25 * len(v)
    totals["float_largest"] = v.max() * 0.125
    totals["double_sum"] = v.sum() * 0.5
    case.expect("totals", totals.view(np.int32))
    case.expect("claimed", np.bincount(np.arange(len(v)) % 1000, minlength=1000))
    blocks = np.zeros(40 * 128, np.int64)
    blocks[:len(v)] = v
    case.expect("block_best", blocks.reshape(40, 128).max(axis=1))
