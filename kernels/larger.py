"""Writes larger launches of the corpus: python3 kernels/larger.py DIR

gpa evaluate --sampling DIR then holds what portions of them tell against the whole launches. Most launches of the corpus are small, so that
all of it runs in minutes, and small launches are timed whole. Sizes are numbers in shapes and arguments; contents of files are repeated.
"""

import os
import re
import shutil
import sys

import numpy as np

# Launch files, numbers in shapes and arguments that become others, numbers in arguments alone, and how many times as long each axis of
# the grid is. A list instead of a dictionary is for the first number of shapes only.
LARGER = [
    ("ladders/attention/(four_lanes|fused|tile_softmax)", [(32, 64)], {}, (1, 2)),
    ("ladders/batched/(block_matrix|four_matrices|rows|shared)", {16384: 65536}, {}, (4,)),
    ("ladders/bilateral/(approximate|shared)", {256: 512}, {}, (2, 2)),
    ("ladders/conv2d/(constant|shared)", {512: 1024, 516: 1028}, {}, (2, 2)),
    ("ladders/crossentropy/warp_row", [(1024, 4096)], {}, (4,)),
    ("ladders/dot/(block_sums|grid_stride|shuffles)", {1048576: 4194304}, {}, (4,)),
    ("ladders/embedding/constants", {16384: 32768}, {}, (2,)),
    ("ladders/fft/(radix_4|shared)", [(1024, 4096)], {}, (4,)),
    ("ladders/gelu/approximate", [(1024, 4096)], {1048576: 4194304}, (4,)),
    ("ladders/gemv/(block_row|warp_row)", {2048: 8192}, {}, (4,)),
    ("ladders/hgemm/tensor", {64: 256}, {}, (1,)),
    ("ladders/sgemm/(prefetched|shared|tiles_1d|tiles_2d|vectors)", {64: 256}, {}, (1,)),
    ("ladders/qgemm/(dot_products|shared)", {64: 256}, {}, (1,)),
    ("ladders/histogram/(grid_stride|shared)", {1048576: 4194304}, {}, (4,)),
    ("ladders/kmeans/(point_in_registers|two_points)", {65536: 262144}, {}, (4,)),
    ("ladders/layernorm/(one_pass|registers|vectors|warp_row)", {2048: 8192}, {}, (4,)),
    ("ladders/montecarlo/single", {}, {16: 32}, (1,)),
    ("ladders/nbody/(split|two_bodies)", {2048: 4096}, {}, (2,)),
    ("ladders/reduction/(first_add|grid_stride|sequential|strided|vectors|warp_shuffle)", {524288: 2097152}, {}, (4,)),
    ("ladders/rmsnorm/(fused|shuffles)", [(1024, 4096)], {}, (4,)),
    ("ladders/softmax/(registers|vectors|warp_row)", {4096: 16384}, {}, (4,)),
    ("frozen/gray_scott/launch", {160: 1280, 240: 1920}, {}, (8, 8)),
    ("frozen/lstm_cell/launch", [(64, 1024)], {64: 1024}, (16,)),
    ("frozen/poly_eval/launch", {32768: 1048576}, {}, (32,)),
    ("frozen/sha256/launch", {2000: 64000}, {}, (32,)),
    ("applied/crc32/launch", {4000: 128000}, {}, (32,)),
    ("applied/jacobi/launch", {192: 1536, 320: 2560}, {}, (8, 8)),
    ("applied/layernorm/launch", {160: 5120}, {}, (32,)),
    ("applied/lennard_jones/launch", {4096: 131072}, {}, (32,)),
    ("later/ell_spmv/launch", {6000: 192000}, {}, (32,)),
    ("later/factor_dot/launch", {20000: 1280000}, {}, (64,)),
    ("later/find_roots/launch", {16000: 512000}, {}, (32,)),
    ("later/hash_join/launch", {24000: 768000}, {}, (32,)),
    ("later/rolling_score/launch", {50000: 1600000}, {}, (32,)),
    ("later/table_interp/launch", {60000: 3840000}, {}, (64,)),
]


def shapes(numbers):
    def change(found):
        dims = [int(d) for d in found[1].split(",")]
        if isinstance(numbers, dict):
            dims = [numbers.get(d, d) for d in dims]
        else:
            dims[0] = dict(numbers).get(dims[0], dims[0])
        return f"shape: {dims}"
    return change


def grids(factors):
    def change(found):
        dims = [int(d) for d in found[1].split(",")]
        more = list(factors) + [1] * len(dims)
        return f"grid: {[d * m for d, m in zip(dims, more)]}"
    return change


def enlarge(folder, name, out, numbers, scalars, factors):
    with open(f"{folder}/{name}.yaml") as file:
        text = file.read().split("\nexpect:")[0] + "\n"
    first, *others = text.split("  - kernel:")
    values = {**dict(numbers), **scalars} if isinstance(numbers, dict) else scalars
    text = re.sub(r"shape: \[([0-9, ]+)\]", shapes(numbers), first) + "  - kernel:" + others[0]
    text = re.sub(r"grid: \[([0-9, ]+)\]", grids(factors), text)
    text = re.sub(r"\{i32: (\d+)\}", lambda f: f"{{i32: {values.get(int(f[1]), int(f[1]))}}}", text)
    os.makedirs(out, exist_ok=True)
    for line in text.splitlines():
        file, shape = re.search(r"file: ([\w.]+)", line), re.search(r"shape: \[([0-9, ]+)\]", line)
        if file:
            old = np.load(f"{folder}/{file[1]}")
            np.save(f"{out}/{file[1]}", np.resize(old, [int(d) for d in shape[1].split(",")]) if shape else old)
    with open(f"{out}/{name}.yaml", "w") as file:
        file.write(text)
    for entry in os.listdir(folder):
        if entry == "cubins" and not os.path.exists(f"{out}/cubins"):
            shutil.copytree(f"{folder}/cubins", f"{out}/cubins")
        elif ".cubin" in entry:
            shutil.copy(f"{folder}/{entry}", out)


def main():
    root = os.path.dirname(os.path.abspath(__file__))
    for pattern, numbers, scalars, factors in LARGER:
        folder, names = pattern.rsplit("/", 1)
        for file in sorted(os.listdir(f"{root}/{folder}")):
            name, kind = os.path.splitext(file)
            if kind == ".yaml" and re.fullmatch(names, name):
                enlarge(f"{root}/{folder}", name, f"{sys.argv[1]}/{folder}", numbers, scalars, factors)


main()
