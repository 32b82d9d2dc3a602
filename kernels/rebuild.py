#!/usr/bin/env python3
"""Rebuilds the corpus: compiles every kernel with NVRTC and computes what it should leave in memory.

    NVRTC_LIB=…/libnvrtc.so.12 CUDA_INCLUDE=…/include python3 kernels/rebuild.py [SUITE/NAME | measured | ladders/NAME …]

Needs Python with NumPy, and from PyPI nvidia-cuda-nvrtc-cu12 12.9 (NVRTC_LIB is its libnvrtc.so.12) and
nvidia-cuda-runtime-cu12 12.9 (CUDA_INCLUDE is its include folder, for cuda_fp16.h); no GPU, driver or toolkit. Without
NVRTC_LIB only the inputs and expected outputs are computed again. The same bytes come out on every machine.
"""
import ctypes
import glob
import importlib.util
import json
import os
import re
import struct
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import corpus  # noqa: E402

ARCHITECTURES = (70, 75, 80, 86, 89, 90)
LATER = (100, 120)  # those that only the kernels below are built for
BUILT_LATER = {
    "applied/crc32", "applied/merge_path", "basic/atomics", "basic/compact", "basic/histogram_shared", "basic/reduce_shuffle", "basic/saxpy",
    "basic/scan", "basic/transpose_tiled", "control/device_calls", "control/malloc", "control/printf", "control/state_machine",
    "control/warp_votes", "divergence/exception_call", "divergence/mandel_exits", "graph/bfs", "linear/sgemm_tiled",
    "linear/spmv", "math/bits", "math/divmod", "math/double_chain", "math/half2", "math/hash64", "math/sincos", "sort/bitonic",
    "stencil/hotspot",
}
ONLY = {  # those of instructions that no architecture before sm_100 has
    "blackwell/packed_math": LATER, "blackwell/warp_extremes": (100,), "blackwell/mma_f8": LATER, "blackwell/tensor_memory": (100,), "blackwell/block_scales": (100,),
    "blackwell/mma_scales": (120,), "blackwell/pairs": (100,),
}
MEASURED = (70, 75, 89, 90)  # those of the GPUs that kernels/measured holds times of
LADDERS = (70, 80, 90)  # those that the versions of a ladder are built for
SPECIFIC = {"hopper": "a", "blackwell": "a"}  # suites that are built for what one architecture alone has: the suffix of its name
VERSION = (12, 9)


def main(names):
    saved = {}
    compiler = Compiler() if "NVRTC_LIB" in os.environ else None
    for directory in folders("launch.yaml", names):
        print(os.path.relpath(directory, HERE))
        if compiler:
            for architecture in architectures(directory):
                compiler.compile(directory, os.path.basename(directory), architecture)
        refer(directory, "launch.yaml", saved)
    if compiler and (not names or names == ["measured"]):
        for architecture in MEASURED:
            compiler.compile(os.path.join(HERE, "measured"), "measured", architecture)
    for directory in folders("ladder.json", names):
        print(os.path.relpath(directory, HERE))
        climb(compiler, directory)


def folders(file, names):
    """The folders of the corpus that have a file of a name: all, or those that are named."""
    if names:
        found = [os.path.normpath(os.path.join(HERE, name, file)) for name in names]
    else:
        found = sorted(glob.glob(os.path.join(HERE, "*", "*", file)))
    return [os.path.dirname(path) for path in found if os.path.exists(path)]


def climb(compiler, directory):
    """Builds the versions of a ladder. They share what they compute: the reference runs on the first one's launch file."""
    with open(os.path.join(directory, "ladder.json"), encoding="utf-8") as f:
        versions = [v["version"] for v in json.load(f)["versions"]]
    os.makedirs(os.path.join(directory, "cubins"), exist_ok=True)
    for version in versions if compiler else []:
        for architecture in LADDERS:
            compiler.compile(directory, version, architecture, "cubins")
    refer(directory, versions[0] + ".yaml", {})


def architectures(directory):
    """The architectures that a kernel is built for: that of the cubin in its launch file, and those after it."""
    with open(os.path.join(directory, "launch.yaml"), encoding="utf-8") as f:
        first = int(re.search(r"^module: \S+\.sm_(\d+)\.cubin", f.read(), re.M)[1])
    name = os.path.relpath(directory, HERE).replace(os.sep, "/")
    later = ONLY.get(name, LATER if name in BUILT_LATER else ())
    return [a for a in ARCHITECTURES if a >= first] + list(later)


def refer(directory, launch, saved):
    """Runs a kernel's reference script, where it has one: the guide's kernels are compared with each other. saved: see [Case]."""
    if not os.path.exists(os.path.join(directory, "reference.py")):
        return
    spec = importlib.util.spec_from_file_location("reference", os.path.join(directory, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.reference(corpus.Case(directory, launch, saved))


class Compiler:
    """NVRTC by its C interface."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["NVRTC_LIB"])
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        if (major.value, minor.value) != VERSION:
            raise SystemExit(f"the corpus is built by NVRTC {VERSION[0]}.{VERSION[1]}, this is {major.value}.{minor.value}")
        self.headers = {**read_headers(os.environ.get("CUDA_INCLUDE")), **read_headers(os.path.join(HERE, "ladders"))}

    def call(self, function, *arguments):
        status = getattr(self.lib, function)(*arguments)
        if status:
            raise RuntimeError(f"{function}: {self.lib.nvrtcGetErrorString(status).decode()}")

    def compile(self, directory, name, architecture, folder="."):
        """Compiles NAME.cu to NAME.sm_NN.cubin.gz in a folder of the directory.

        NVRTC writes the current directory into the line table, and the paths of headers. Compiling in the root with
        headers from memory keeps this machine's paths out, whatever their lengths.
        """
        with open(os.path.join(directory, name + ".cu"), "rb") as f:
            source = f.read()
        os.chdir("/")
        program = ctypes.c_void_p()
        strings = ctypes.c_char_p * len(self.headers)
        self.call("nvrtcCreateProgram", ctypes.byref(program), source, f"./{name}.cu".encode(), len(self.headers),
                  strings(*self.headers.values()), strings(*self.headers))
        suite = os.path.basename(os.path.dirname(os.path.abspath(directory)))
        options = [f"--gpu-architecture=sm_{architecture}{SPECIFIC.get(suite, SPECIFIC.get(name, ''))}".encode(), b"-lineinfo"]
        try:
            self.call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
        except RuntimeError:
            raise SystemExit(self.text(program, "ProgramLog").decode())
        cubin = relative(strip(self.text(program, "CUBIN")))
        corpus.save_compressed(os.path.join(directory, folder, f"{name}.sm_{architecture}.cubin.gz"), cubin)

    def text(self, program, what):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, data)
        return data.raw


def read_headers(include):
    """The headers of a folder by the names that they are included by."""
    headers = {}
    if include:
        for path in sorted(glob.glob(os.path.join(include, "*.h*")) + glob.glob(os.path.join(include, "nv", "*"))):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    headers[os.path.relpath(path, include).encode()] = f.read()
    return headers


# The directory table of a line table: the last lengths of the standard opcodes, one directory, the end.
DIRECTORY = b"\0\0\1/.\0\0"


def relative(cubin):
    """Makes the source's directory in the line table, the root followed by a dot, the current one."""
    if cubin.count(DIRECTORY) != 1:
        raise SystemExit("the line table does not name the source's directory once")
    return cubin.replace(DIRECTORY, DIRECTORY.replace(b"/.", b"./"))


# What debuggers and PTX-level tools read, about half of a small cubin. The line table is .debug_line.
STRIPPED = {".debug_frame", ".rel.debug_frame", ".nv_debug_ptx_txt", ".nv_debug_line_sass", ".rel.nv_debug_line_sass"}
# Of sm_100 and later, beside these: code before it is made final, and what belongs to it.
STRIPPED_LATER = (".nv.merc.", ".nv.capmerc.", ".rela.debug_frame", ".rela.nv_debug_line_sass")
OSABI, OSABI_LATER = 7, 0x41
NOBITS, ALLOC, ALIGNMENT = 8, 2, 128


def strip(cubin):
    """Empties the sections that gpa and nvdisasm do without, and moves the others together.

    The section numbers stay, as symbols and relocations refer to them.
    """
    header = list(struct.unpack_from("<16sHHIQQQIHHHHHH", cubin))
    phoff, shoff, phentsize, phnum, shentsize, shnum, shstrndx = header[5], header[6], *header[9:]
    sections = [list(struct.unpack_from("<IIQQQQIIQQ", cubin, shoff + i * shentsize)) for i in range(shnum)]
    names = sections[shstrndx][4]
    out, moved = bytearray(cubin[:64]), {}
    later = cubin[OSABI] == OSABI_LATER  # whose sections are in order, but that one lies where another does
    for s in sections if later else sorted(sections, key=lambda s: s[4]):
        name = cubin[names + s[0]:cubin.index(b"\0", names + s[0])].decode()
        if name in STRIPPED or later and name.startswith(STRIPPED_LATER):
            s[5] = 0
        if s[2] & ALLOC:  # the distances inside a segment stay
            out += bytes((s[4] - len(out)) % ALIGNMENT)
        out += bytes(-len(out) % max(s[8], 1))
        old, s[4] = s[4], len(out) if s[1] else 0
        if s[1] and s[1] != NOBITS:
            out += cubin[old:old + s[5]]
            moved.setdefault(old, s[4])
    out += bytes(-len(out) % 8)
    header[6] = len(out)
    for s in sections:
        out += struct.pack("<IIQQQQIIQQ", *s)
    header[5] = len(out) if phnum else 0
    moved[phoff] = header[5]
    for i in range(phnum):
        p = list(struct.unpack_from("<IIQQQQQQ", cubin, phoff + i * phentsize))
        p[2] = moved.get(p[2], p[2])
        out += struct.pack("<IIQQQQQQ", *p)
    struct.pack_into("<16sHHIQQQIHHHHHH", out, 0, *header)
    return bytes(out)


if __name__ == "__main__":
    main(sys.argv[1:])
