#!/usr/bin/env python3
"""Compiles micro.cu for every architecture that the models have: NVRTC_LIB=…/libnvrtc.so.12 python3 build.py

NVRTC is that of the PyPI package nvidia-cuda-nvrtc-cu12 12.9. The same bytes come out on every machine.
"""
import ctypes
import gzip
import os

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHITECTURES = ("sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90")


def main():
    lib = ctypes.CDLL(os.environ["NVRTC_LIB"])
    with open(os.path.join(HERE, "micro.cu"), "rb") as f:
        source = f.read()
    os.chdir("/")  # NVRTC writes the current directory into the cubin
    for architecture in ARCHITECTURES:
        save_compressed(os.path.join(HERE, f"micro.{architecture}.cubin.gz"), compile_for(lib, source, architecture))


def save_compressed(path, content):
    """Writes a file that gzip compresses, unless it holds the content already: not all versions of zlib make the same bytes."""
    if os.path.exists(path):
        with gzip.open(path) as f:
            if f.read() == content:
                return
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as packed:
        packed.write(content)


def compile_for(lib, source, architecture):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    lib.nvrtcCreateProgram(ctypes.byref(program), source, b"./micro.cu", 0, None, None)
    options = [f"--gpu-architecture={architecture}".encode(), b"--disable-warnings"]
    failed = lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    if failed:
        raise SystemExit(log.value.decode())
    lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, cubin)
    return cubin.raw


if __name__ == "__main__":
    main()
