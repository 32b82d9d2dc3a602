#!/usr/bin/env python3
"""Rebuilds the corpus: compiles every kernel with NVRTC and computes what it should leave in memory.

    NVRTC_LIB=…/libnvrtc.so.12 CUDA_INCLUDE=…/include python3 kernels/rebuild.py [SUITE/NAME …]

Needs Python with NumPy, and from PyPI nvidia-cuda-nvrtc-cu12 12.9 (NVRTC_LIB is its libnvrtc.so.12) and
nvidia-cuda-runtime-cu12 12.9 (CUDA_INCLUDE is its include folder, for cuda_fp16.h); no GPU, driver or toolkit. Without
NVRTC_LIB only the inputs and expected outputs are computed again. The same bytes come out on every machine.
"""
import ctypes
import glob
import importlib.util
import os
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import corpus  # noqa: E402

ARCHITECTURE = "sm_70"
VERSION = (12, 9)


def main(names):
    directories = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(HERE, "*", "*", "launch.yaml")))
    if names:
        directories = [os.path.join(HERE, name) for name in names]
    compiler = Compiler() if "NVRTC_LIB" in os.environ else None
    for directory in directories:
        print(os.path.relpath(directory, HERE))
        if compiler:
            compiler.compile(directory)
        refer(directory)


def refer(directory):
    """Runs a kernel's reference script."""
    spec = importlib.util.spec_from_file_location("reference", os.path.join(directory, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.reference(corpus.Case(directory))


class Compiler:
    """NVRTC by its C interface."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["NVRTC_LIB"])
        self.lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        if (major.value, minor.value) != VERSION:
            raise SystemExit(f"the corpus is built by NVRTC {VERSION[0]}.{VERSION[1]}, this is {major.value}.{minor.value}")
        self.headers = read_headers(os.environ.get("CUDA_INCLUDE"))

    def call(self, function, *arguments):
        status = getattr(self.lib, function)(*arguments)
        if status:
            raise RuntimeError(f"{function}: {self.lib.nvrtcGetErrorString(status).decode()}")

    def compile(self, directory):
        """Compiles NAME.cu to NAME.sm_70.cubin.

        NVRTC writes the current directory into the line table, and the paths of headers. Compiling in the root with
        headers from memory keeps this machine's paths out, whatever their lengths.
        """
        name = os.path.basename(directory)
        with open(os.path.join(directory, name + ".cu"), "rb") as f:
            source = f.read()
        os.chdir("/")
        program = ctypes.c_void_p()
        strings = ctypes.c_char_p * len(self.headers)
        self.call("nvrtcCreateProgram", ctypes.byref(program), source, f"./{name}.cu".encode(), len(self.headers),
                  strings(*self.headers.values()), strings(*self.headers))
        options = [f"--gpu-architecture={ARCHITECTURE}".encode(), b"-lineinfo"]
        try:
            self.call("nvrtcCompileProgram", program, len(options), (ctypes.c_char_p * len(options))(*options))
        except RuntimeError:
            raise SystemExit(self.text(program, "ProgramLog").decode())
        cubin = relative(self.text(program, "CUBIN"))
        with open(os.path.join(directory, f"{name}.{ARCHITECTURE}.cubin"), "wb") as f:
            f.write(cubin)

    def text(self, program, what):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, data)
        return data.raw


def read_headers(include):
    """The toolkit's headers by the names that they are included by."""
    headers = {}
    if include:
        for path in sorted(glob.glob(os.path.join(include, "*.h*")) + glob.glob(os.path.join(include, "nv", "*"))):
            if os.path.isfile(path):
                with open(path, "rb") as f:
                    headers[os.path.relpath(path, include).encode()] = f.read()
    return headers


def relative(cubin):
    """Makes the source's directory in the line table, the root followed by a dot, the current one."""
    if cubin.count(b"/.\0") != 1:
        raise SystemExit("the line table does not name the source's directory once")
    return cubin.replace(b"/.\0", b"./\0")


if __name__ == "__main__":
    main(sys.argv[1:])
