#!/usr/bin/env python3
"""Rebuilds the cubins of the kernels here. It needs what kernels/rebuild.py needs."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "kernels"))
import rebuild  # noqa: E402

compiler = rebuild.Compiler()
for name in sys.argv[1:] or ("bugs", "memory", "init", "race", "sync", "hopper", "blackwell"):
    for architecture in {"hopper": (90,), "blackwell": (100,)}.get(name, (70, 80, 90)):
        compiler.compile(os.path.join(HERE, name), name, architecture)
