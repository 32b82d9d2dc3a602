"""Compiles a kernel of Triton's again, of the intermediate representation that its cache keeps, with other options.

Standard input is a JSON object: "ttir" and "metadata" name the files of the cache, "arch" is the compute capability, "options" a list of
objects whose members take the place of those of the metadata, "out" a folder. The i-th of them becomes I.cubin and I.json there: "warps" and
"shared" say how it is launched, "scratch" what it takes besides, "error" why there is none.
"""
import json
import os
import sys

spec = json.load(sys.stdin)
with open(spec["metadata"]) as f:
    metadata = json.load(f)

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

target = GPUTarget("cuda", spec["arch"], 32)
fields = type(make_backend(target).parse_options({})).__dataclass_fields__
plain = {k: v for k, v in metadata.items() if k in fields and k != "arch" and isinstance(v, (bool, int, float, str))}

for i, options in enumerate(spec["options"]):
    said = {}
    try:
        kernel = triton.compile(spec["ttir"], target=target, options={**plain, **options})
        with open(os.path.join(spec["out"], "%d.cubin" % i), "wb") as f:
            f.write(kernel.asm["cubin"])
        said = {
            "warps": kernel.metadata.num_warps,
            "shared": kernel.metadata.shared,
            "scratch": getattr(kernel.metadata, "global_scratch_size", 0),
        }
    except Exception as e:
        said = {"error": "%s: %s" % (type(e).__name__, e)}
    with open(os.path.join(spec["out"], "%d.json" % i), "w") as f:
        json.dump(said, f)
