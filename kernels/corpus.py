"""What the reference scripts of the corpus share: the launch file's initial buffers, and the files with what a kernel should leave.

A reference script defines reference(case): it reads buffers and arguments from the case, computes by other means than
the kernel's, and hands the results to case.expect. The buffers are those of the launch file, so sizes and seeds are
written down once, there.
"""
import gzip
import io
import os
import re

import numpy as np

DTYPES = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32,
    "i64": np.int64, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}


class Case:
    """A kernel's directory with its launch file.

    Kernels that are compared with each other may share a file: the launch file of one names it in the directory of the
    other. saved holds, by path, who saved what in this run, so that their references have to agree.
    """

    def __init__(self, directory, launch="launch.yaml", saved=None):
        self.directory = directory
        self.saved = {} if saved is None else saved
        with open(os.path.join(directory, launch), encoding="utf-8") as f:
            self.launch = parse_launch(f.read())

    def buffer(self, name):
        """The initial content of a buffer or symbol, in its shape."""
        spec = self._spec(name)
        init = spec.get("init", {})
        if "file" in init:
            return np.load(os.path.join(self.directory, init["file"]))
        return generate(DTYPES[spec["type"]], spec["shape"], init)

    def _spec(self, name):
        return {**self.launch.get("symbols", {}), **self.launch["buffers"]}[name]

    def args(self, launch=0):
        """The scalar arguments of a launch, in order; None for those that are addresses."""
        out = []
        for arg in self.launch["launches"][launch]["args"]:
            (kind, value), = ((k, v) for k, v in arg.items() if k != "offset")
            out.append(DTYPES[kind](value) if kind in DTYPES else None)
        return out

    def input(self, name, values):
        """Saves the initial content of a buffer whose init names a file."""
        spec = self._spec(name)
        values = exact(values, DTYPES[spec["type"]]).reshape(spec["shape"])
        self._save(spec["init"]["file"], values)

    def expect(self, name, values):
        """Saves what a buffer should hold after the last launch, under the name that the launch file gives it."""
        spec = self._spec(name)
        dtype, shape = DTYPES[spec["type"]], spec["shape"]
        values = exact(values, dtype) if np.issubdtype(dtype, np.integer) else np.asarray(values).astype(dtype)
        self._save(self.launch["expect"][name]["file"], values.reshape(shape))

    def _save(self, file, values):
        path = os.path.normpath(os.path.join(self.directory, file))
        content = io.BytesIO()
        np.save(content, values)
        other, before = self.saved.setdefault(path, (self.directory, content.getvalue()))
        if before != content.getvalue():
            raise ValueError(f"{path}: the references of {other} and {self.directory} differ")
        if os.path.exists(path + ".gz"):  # large arrays of small numbers
            save_compressed(path + ".gz", before)
            return
        with open(path, "wb") as f:
            f.write(before)

    def text(self, name, text):
        """Saves a text, such as what the kernel prints."""
        with open(os.path.join(self.directory, name), "w", encoding="utf-8", newline="\n") as f:
            f.write(text)


def save_compressed(path, content):
    """Writes a file that gzip compresses, unless it holds the content already: not all versions of zlib make the same bytes."""
    if os.path.exists(path):
        with gzip.open(path) as f:
            if f.read() == content:
                return
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as packed:
        packed.write(content)


def exact(values, dtype):
    """The values as dtype; an error if one of them does not fit."""
    values = np.asarray(values)
    out = values.astype(dtype)
    if not np.array_equal(out, values):
        raise ValueError(f"values do not fit {np.dtype(dtype).name}")
    return out


def digest(values):
    """What the kernel digest of the ladders leaves of floats: one float for every 1,024, with the weights of digest.h."""
    v = np.asarray(values, np.float64).reshape(-1, 8, 32, 4)
    rounds, lanes, parts = 0.875 ** np.arange(7, -1, -1), 1 - np.arange(32) / 64, 1 - np.arange(4) / 4
    return np.einsum("nklp,k,l,p->n", v, rounds, lanes, parts)


# The generators of the launch file.

def draw(seed, i):
    """Element i of the splitmix64 sequence of a seed (Steele, Lea and Flood 2014); i is an array."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed % 2**64) + (i.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return z ^ z >> np.uint64(31)


def unit(seed, i):
    return (draw(seed, i) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def generate(dtype, shape, init):
    """A buffer of the given type and shape as init describes it."""
    n = int(np.prod(shape))
    i = np.arange(n, dtype=np.uint64)
    seed = init.get("seed", 0)
    if "uniform" in init:
        values = uniform(dtype, *init["uniform"], unit(seed, i))
    elif "normal" in init:
        mean, std = init["normal"]
        total = np.zeros(n)
        for k in range(12):
            total += unit(seed, i * np.uint64(12) + np.uint64(k))
        values = mean + std * (total - 6)
        values = values if np.issubdtype(dtype, np.floating) else np.floor(values)
    elif "permutation" in init:
        values = permutation(n, seed)
    elif "iota" in init:
        start, step = init["iota"]
        values = np.array([start + k * step for k in range(n)])
    else:
        values = np.full(n, init.get("fill", 0))
    return np.asarray(values).astype(dtype).reshape(shape)


def uniform(dtype, low, high, u):
    values = low + u * (high - low)
    if np.issubdtype(dtype, np.integer):
        values = np.floor(values)
        return np.where(values >= high, np.ceil(high) - 1, values)
    values = values.astype(dtype)
    top = np.asarray(high, np.float64).astype(dtype)
    if float(top) >= high:
        top = np.nextafter(top, dtype(-np.inf))
    return np.where(values.astype(np.float64) >= high, top, values)


def permutation(n, seed):
    order = np.arange(n)
    draws = draw(seed, np.arange(n))
    for i in range(n - 1, 0, -1):
        j = int(draws[i] % np.uint64(i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def fma32(a, b, c):
    """a·b + c with one rounding to f32, for finite f32 operands whose result is normal.

    The product is exact in f64. The sum is rounded to odd there (Boldo and Melquiond 2008), which makes the second
    rounding, to f32, come out as if it were the only one.
    """
    p = np.asarray(a, np.float32).astype(np.float64) * np.asarray(b, np.float32).astype(np.float64)
    c = np.asarray(c, np.float32).astype(np.float64)
    p, c = np.broadcast_arrays(p, c)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    even = (s.view(np.int64) & 1) == 0
    s = np.where((error != 0) & even, np.nextafter(s, np.where(error > 0, np.inf, -np.inf)), s)
    return s.astype(np.float32)


# The part of YAML that launch files of the corpus use: nested blocks, lists of dashes, flow collections on one line.

def parse_launch(text):
    """A launch file as dictionaries, lists, numbers and strings."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if line:
            lines.append((len(line) - len(line.lstrip()), line.lstrip()))
    return parse_block(lines)


def parse_block(lines):
    """Consumes the lines of one block: a mapping, or a list of dashes."""
    indent, first = lines[0]
    out = [] if first.startswith("- ") else {}
    while lines and lines[0][0] == indent:
        line = lines.pop(0)[1]
        if isinstance(out, list):
            body = line[2:]
            if body.startswith("{"):
                out.append(parse_flow(body))
            else:  # a mapping that begins on the dash's line
                lines.insert(0, (indent + 2, body))
                out.append(parse_block(lines))
            continue
        key, _, value = line.partition(":")
        out[key] = parse_flow(value) if value.strip() else parse_block(lines)
    return out


TOKEN = re.compile(r'"[^"]*"|[{}\[\],]|:(?=\s|$)|[^\s{}\[\],:"](?:[^\s{}\[\],:"]|:(?=\S))*')


def parse_flow(text):
    tokens = TOKEN.findall(text)
    value = parse_value(tokens)
    if tokens:
        raise ValueError(f"left over after a value: {tokens}")
    return value


def parse_value(tokens):
    token = tokens.pop(0)
    if token == "{":
        out = {}
        while tokens[0] != "}":
            key = tokens.pop(0)
            tokens.pop(0)  # the colon
            out[key] = parse_value(tokens)
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return out
    if token == "[":
        out = []
        while tokens[0] != "]":
            out.append(parse_value(tokens))
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return out
    return scalar(token)


def scalar(token):
    for kind in (lambda t: int(t, 0), float):
        try:
            return kind(token)
        except ValueError:
            pass
    return {"true": True, "false": False}.get(token, token.strip('"'))
