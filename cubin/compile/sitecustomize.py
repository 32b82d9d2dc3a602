"""Has a program's Triton compile its kernels again, with other values of their tl.constexpr arguments, after the program has ended.

Python imports this module as it starts, where its folder comes first in PYTHONPATH. Nothing is changed of what a program does: each kernel that it
launches is kept, with the other block sizes that its arguments allow and the grids that go with them. As the program ends, a copy of the process stays
behind, which has the kernels' functions and what these refer to, tells the socket that GPA_TRITON names of them, and compiles what it is asked for, until
the other end is closed. triton.py, which comes behind this text, has the functions that compile from here.
"""
import ast
import functools
import itertools
import os
import sys
from importlib.machinery import PathFinder

MODULE = "triton.runtime.jit"
LEAST = 16  # of a block's sizes: tl.dot takes no smaller ones
WHOLE = 256  # from which on a block that holds all of a dimension is taken for one that has to
ALTERNATIVES = 12  # of a kernel
LAUNCHES = 200  # of a program that differ in kernel or grid


class Finder:
    """Patches the module when it is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                patch(module.JITFunction)

            spec.loader.exec_module = exec_module
        return spec


def patch(function):
    import atexit

    kept = {}
    run = function.run

    def kept_run(self, *args, grid, warmup, **kwargs):
        kernel = run(self, *args, grid=grid, warmup=warmup, **kwargs)
        if kernel is not None and not warmup and len(kept) < LAUNCHES:
            try:
                bound = arguments(self, args, kwargs)
                now = three(grid(bound) if callable(grid) else grid)
                if (id(kernel), now) not in kept:
                    if not kept:
                        atexit.register(stay, kept)
                    kept[id(kernel), now] = kernel, alternatives(self, bound, grid, now)
            except Exception:  # of a Triton that does it otherwise: its kernels are not kept, as is one whose source is none that Python reads
                pass
        return kernel

    function.run = kept_run


def number(value):
    """The integer that an argument is, None where it is none."""
    value = getattr(value, "value", value)  # of a tl.constexpr
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def volume(sizes):
    product = 1
    for n in sizes:
        product *= n
    return product


def three(grid):
    grid = tuple(int(n) for n in ((grid,) if isinstance(grid, int) else grid))
    return grid + (1,) * (3 - len(grid))


def arguments(function, args, kwargs):
    bound = {p.name: p.default for p in function.signature.parameters.values() if p.default is not p.empty}
    bound.update(zip(function.arg_names, args))
    bound.update((k, v) for k, v in kwargs.items() if k in function.arg_names)
    return bound


def blocks(n, size):
    return -(-n // size)


def multiplied(text):
    """The axes of the grid by the name that the numbers of programs along them, or what is made of these, are multiplied by."""
    axes, found = {}, {}

    def of(node):
        called = isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called == "program_id":
            axis = [a.value for a in node.args + [k.value for k in node.keywords] if isinstance(a, ast.Constant)]
            return set(axis[:1])
        return set().union(*map(of, ast.iter_child_nodes(node)), axes.get(getattr(node, "id", None), ()))

    for node in sorted((n for n in ast.walk(ast.parse(text)) if hasattr(n, "lineno")), key=lambda n: n.lineno):
        if isinstance(node, ast.Assign):
            for name in (n for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)):
                axes.setdefault(name.id, set()).update(of(node.value))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for x, y in ((node.left, node.right), (node.right, node.left)):
                if isinstance(y, ast.Name) and of(x):
                    found.setdefault(y.id, set()).update(of(x))
    return found


def alternatives(function, bound, grid, now):
    """Other values of the arguments that give sizes of blocks, with the grid of each: what the program's own function says of it, else what
    it is if an axis is an argument, or a product of two, divided into blocks. That outputs stay the same is for others to see."""
    constant = {p.name for p in function.params if p.is_constexpr}
    sizes = {k: number(v) for k, v in bound.items() if k in constant}
    sizes = {k: v for k, v in sizes.items() if v is not None and v >= LEAST and v & (v - 1) == 0}
    counts = {k: number(v) for k, v in bound.items() if k not in sizes}
    counts = {k: v for k, v in counts.items() if v is not None and v > 1}
    whole = {1 << (n - 1).bit_length() for n in counts.values()}

    def grids(changed):
        if not callable(grid):
            return divided(changed)
        try:
            return [three(grid({**bound, **changed}))]
        except Exception:  # the program has none for these sizes
            return [None]

    def divided(changed):
        """The grids whose axes have so many blocks of sizes that the kernel multiplies its program's number by: of one size or of two."""
        sized = {**sizes, **changed}
        axes = {i for name in changed for i in placed.get(name, ())}
        choices = [[now[i]] if i not in axes else sorted(set(along(i, sized))) for i in range(3)]
        return itertools.product(*choices)

    def along(i, sized):
        names = [name for name in sizes if i in placed.get(name, ())]
        for a, b in itertools.product(names, names + [None]):
            for n in counts.values():
                for m in counts.values() if b else (1,):
                    if a != b and now[i] > 1 and blocks(n, sizes[a]) * blocks(m, sizes.get(b, 1)) == now[i]:
                        yield blocks(n, sized[a]) * blocks(m, sized.get(b, 1))

    placed = {} if callable(grid) else multiplied(function.src)
    found, places, rounds = [], [], []

    def add(to, changed):
        """Adds what another grid goes with; false where the grid stays."""
        other = [g for g in dict.fromkeys(grids(changed)) if g != now]
        for g in other:
            if g is not None and volume(g) > 0:
                to.append({"constants": changed, "was": {k: sizes[k] for k in changed}, "grid": g})
        return len(other) > 0

    for factor in (2, 0.5, 4):
        for name, size in sizes.items():
            changed = {name: int(size * factor)}
            if changed[name] < LEAST:
                continue
            if add(found, changed):
                if name not in places:
                    places.append(name)
            elif name not in places and factor != 4 and not (size >= WHOLE and size in whole):
                rounds.append({"constants": changed, "was": {name: size}, "grid": now})
        if factor != 4:
            for i, a in enumerate(places):
                for b in places[i + 1 :]:
                    changed = {a: int(sizes[a] * factor), b: int(sizes[b] * factor)}
                    if min(changed.values()) >= LEAST:
                        add(found, changed)
    rounds.sort(key=lambda x: list(x["was"].values())[0] in whole)
    return (found[: ALTERNATIVES - min(len(rounds), 4)] + rounds)[:ALTERNATIVES]


def stay(kept):
    """Leaves a copy of this process behind that compiles."""
    import hashlib
    import socket

    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.environ["GPA_TRITON"])
        told = []
        for (_, now), (kernel, others) in kept.items():
            types = [t for t in kernel.src.signature.values() if t != "constexpr"]
            image = hashlib.sha256(kernel.asm["cubin"]).hexdigest()
            told.append({"kernel": kernel.metadata.name, "image": image, "grid": now, "types": types, "alternatives": others})
        sys.stdout.flush()
        sys.stderr.flush()
        if os.fork():
            return
    except Exception:
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for i in range(3):
            os.dup2(null, i)
        os.closerange(3, s.fileno())
        os.closerange(max(3, s.fileno() + 1), os.sysconf("SC_OPEN_MAX"))
        answer(s.makefile("rwb"), told, [kernel for kernel, _ in kept.values()])
    finally:
        os._exit(0)


def answer(stream, told, kernels):
    import json

    def say(what):
        stream.write(json.dumps(what).encode() + b"\n")
        stream.flush()

    say(told)
    os.environ["TRITON_CACHE_DIR"] = os.path.join(os.path.dirname(os.environ["GPA_TRITON"]), "cache")
    for line in stream:
        asked = json.loads(line)
        write(asked["out"], asked["options"], functools.partial(again, kernels[asked["id"]]))
        say({})


def write(folder, options, make):
    """Writes what is made with the i-th of some options: I.cubin and I.json, where "warps" and "shared" say how it is launched, "scratch" what it
    takes besides, "error" why there is none."""
    import json

    for i, each in enumerate(options):
        name = os.path.join(folder, str(i))
        try:
            made = make(dict(each))
            said = {"warps": made.metadata.num_warps, "shared": made.metadata.shared, "scratch": getattr(made.metadata, "global_scratch_size", 0)}
            with open(name + ".cubin", "wb") as f:
                f.write(made.asm["cubin"])
        except Exception as e:
            said = {"error": "%s: %s" % (type(e).__name__, e)}
        with open(name + ".json", "w") as f:
            json.dump(said, f)


def compiled(source, target, metadata, options):
    """A source, compiled with the options that its metadata name, and with others in their place."""
    import triton

    fields = type(triton.compiler.compiler.make_backend(target).parse_options({})).__dataclass_fields__
    plain = {k: v for k, v in metadata.items() if k in fields and k != "arch" and isinstance(v, (bool, int, float, str))}
    return triton.compile(source, target=target, options={**plain, **options})


def again(kernel, options):
    """The kernel, compiled with other values of constants and options."""
    changed = dict(x.split("=") for x in options.pop("constants", "").split(", ") if x)
    src, metadata = kernel.src, kernel.metadata._asdict()
    names = src.fn.arg_names
    constants = dict(src.constants)
    for key in constants:
        at = key[0] if isinstance(key, tuple) else key
        name = names[at] if isinstance(at, int) else at
        if name in changed:
            constants[key] = int(changed[name])
    return compiled(type(src)(src.fn, src.signature, constants, src.attrs), metadata["target"], metadata, options)


def next_sitecustomize():
    """Imports the module of this name that Python would have found without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as e:
        if e.name != "sitecustomize":
            raise
        if this is not None:
            sys.modules["sitecustomize"] = this


if __name__ == "sitecustomize":
    if os.environ.get("GPA_TRITON") and hasattr(os, "fork"):
        sys.meta_path.insert(0, Finder())
    next_sitecustomize()
