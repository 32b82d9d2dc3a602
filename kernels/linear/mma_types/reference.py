import numpy as np

BLOCKS = 8

# kernel: rows of a, depth, types of a and b, how they are joined, whether sums are clamped
KERNELS = {
    "bf16": (16, 16, "bf16", "bf16", "product", False),
    "bf16_k8": (16, 8, "bf16", "bf16", "product", False),
    "tf32": (16, 8, "tf32", "tf32", "product", False),
    "tf32_k4": (16, 4, "tf32", "tf32", "product", False),
    "s8": (16, 32, "s8", "s8", "product", False),
    "u8_sat": (16, 16, "u8", "s8", "product", True),
    "s4": (16, 64, "s4", "u4", "product", False),
    "s4_k32": (16, 32, "u4", "s4", "product", False),
    "b1_and": (16, 256, "b1", "b1", "and", False),
    "b1_xor": (16, 128, "b1", "b1", "xor", False),
}

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
FLOATS = ("f16", "bf16", "tf32")


def reference(case):
    """Products of the elements, in double precision or in integers."""
    for number, (name, (rows, depth, a_type, b_type, join, clamp)) in enumerate(KERNELS.items()):
        rng = np.random.default_rng(320 + number)
        a, b = draw(rng, a_type, (BLOCKS, rows, depth)), draw(rng, b_type, (BLOCKS, 8, depth))
        if a_type in FLOATS:
            c = rng.uniform(-1, 1, (BLOCKS, rows, 8)).astype(np.float32)
            sums = np.einsum("nik,njk->nij", a.astype(np.float64), b.astype(np.float64)) + c
        else:
            low, high = (2**31 - 2000, 2**31) if clamp else (-2**20, 2**20)
            c = rng.integers(low, high, (BLOCKS, rows, 8)).astype(np.int32)
            pairs = a[:, :, None, :].astype(np.int64), b[:, None, :, :].astype(np.int64)
            sums = {"product": np.multiply, "and": np.bitwise_and, "xor": np.bitwise_xor}[join](*pairs).sum(axis=3) + c
            if clamp:
                sums = sums.clip(-2**31, 2**31 - 1)
        case.input("a_" + name, pack(a, a_type))
        case.input("b_" + name, pack(b, b_type))
        case.input("c_" + name, c.reshape(-1, 8))
        case.expect("c_" + name, sums.reshape(-1, 8))
    double(case)


def double(case):
    rng = np.random.default_rng(340)
    a, b, c = (rng.uniform(-1, 1, (BLOCKS, 8, n)) for n in (4, 4, 8))
    for name, values in (("a", a), ("b", b), ("c", c)):
        case.input(name + "_f64", values.reshape(-1, values.shape[-1]))
    wide = np.einsum("nik,njk->nij", a.astype(np.longdouble), b.astype(np.longdouble)) + c
    case.expect("c_f64", wide.reshape(-1, 8).astype(np.float64))



def draw(rng, kind, shape):
    """Elements whose values their type holds exactly."""
    if kind in FLOATS:
        bits = {"f16": 13, "bf16": 16, "tf32": 13}[kind]
        words = rng.uniform(-1, 1, shape).astype(np.float32).view(np.uint32) >> bits << bits
        return words.view(np.float32)
    low = -(1 << BITS[kind] - 1) if kind[0] == "s" else 0
    return rng.integers(low, low + (1 << BITS[kind]), shape)


def pack(values, kind):
    """Words of elements along the depth, the first lowest."""
    if kind == "tf32":
        words = values.view(np.uint32)
    else:
        if kind == "bf16":
            codes = values.view(np.uint32) >> 16
        elif kind == "f16":
            codes = values.astype(np.float16).view(np.uint16)
        else:
            codes = values & (1 << BITS[kind]) - 1
        count = 32 // BITS[kind]
        groups = codes.astype(np.uint64).reshape(*values.shape[:-1], -1, count)
        words = (groups << (np.arange(count, dtype=np.uint64) * np.uint64(BITS[kind]))).sum(axis=-1)
    return words.astype(np.uint32).reshape(-1, words.shape[-1])
