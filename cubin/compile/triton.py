"""Compiles a kernel of Triton's again, of the intermediate representation that its cache keeps, with other options.

It is run behind the text of sitecustomize.py. Standard input is a JSON object: "ttir" and "metadata" name the files of the cache, "arch" is the compute
capability, "options" a list of objects whose members take the place of those of the metadata, "out" a folder for what write says.
"""
import json

from triton.backends.compiler import GPUTarget

spec = json.load(sys.stdin)
with open(spec["metadata"]) as f:
    metadata = json.load(f)
target = GPUTarget("cuda", spec["arch"], 32)
write(spec["out"], spec["options"], lambda options: compiled(spec["ttir"], target, metadata, options))
