"""Compiles a CUDA source by NVRTC: LIBRARY IN OUT ARCH [OPTION ...]. Headers of the toolkit are those of the packages beside the library."""
import ctypes
import glob
import os
import sys


def main(library, source, out, arch, *flags):
    nvrtc = ctypes.CDLL(library)
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    with open(source, "rb") as f:
        text = f.read()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, os.fsencode(source), 0, None, None)
    nvidia = os.path.dirname(os.path.dirname(os.path.dirname(library)))
    folders = [os.path.dirname(source) or "."] + sorted(glob.glob(os.path.join(nvidia, "*", "include")))
    options = ["--gpu-architecture=" + arch, "-lineinfo", *flags, *("-I" + f for f in folders)]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*map(os.fsencode, options)))
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    sys.stderr.write(log.value.decode(errors="replace"))
    if failed:
        return 1
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    with open(out, "wb") as f:
        f.write(cubin.raw)
    return 0


sys.exit(main(*sys.argv[1:]))
