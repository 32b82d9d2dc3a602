package advisor

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
)

// Advice speaks of what its reader can change. A kernel of Triton has no threads, barriers or shared memory in its source: its author
// chooses block sizes, num_warps, num_stages and the order of offsets, and the compiler does the rest; so with a tile kernel of cuTile.
// Numba's kernels are CUDA's in Python, and so are those of CuTe DSL, which have threads and shared memory too.

// A language is what a kernel is written in.
type language uint8

const (
	cudaC language = iota
	triton
	numba
	cuTile
)

// languageOf tells what a kernel is written in by the line table and, of those that compile Python, by its symbol (Numba's are mangled as those of
// C++, CuTe DSL's have a prefix) and by what the cubin of a tile kernel has for its launch.
func languageOf(module *cubin.File, kernel string) language {
	k, err := module.Kernel(kernel)
	switch {
	case err != nil || path.Ext(k.Code.Line(k.Entry).File) != ".py":
		return cudaC
	case k.Tile != nil:
		return cuTile
	case strings.HasPrefix(k.Name, "kernel_cutlass_"):
		return cudaC
	case strings.HasPrefix(k.Name, "_Z"):
		return numba
	}
	return triton
}

// speak puts what a match suggests into the words of the kernel's language.
func (in *Input) speak(optimizer string, m *Match) {
	if m.Spoken {
		return
	}
	switch in.language {
	case triton, cuTile:
		words := tritonWords[optimizer]
		switch {
		case m.Launches > 1 && in.language == cuTile:
			words = cuTileFusion
		case m.Launches > 1:
			words = tritonFusion
		case in.language == cuTile:
			words = cuTileWords[optimizer]
		}
		m.Suggestions = []string{fmt.Sprintf(words, in.matchPlace(m))}
	case numba:
		for i, s := range m.Suggestions {
			m.Suggestions[i] = inNumba(s)
		}
	}
}

// matchPlace names the hottest lines that a match is about, the place of its scope where it has none.
func (in *Input) matchPlace(m *Match) string {
	var nodes []blamer.Node
	for _, h := range m.Hotspots {
		nodes = append(nodes, h.Def)
	}
	if len(nodes) == 0 {
		return in.scopePlace(m.Scope)
	}
	return in.places(nodes, 3)
}

// tritonFusion is what one can do about launches that could be one.
const tritonFusion = "What is loaded at %s the kernel before has stored, or the kernel behind loads what this one stores, program by program or element by element. Write one @triton.jit kernel: a jit function of the values of one in the place of the other one's tl.load, or in front of its tl.store. Not where others read what lies between."

// tritonWords are what a Triton kernel's author can do, by optimizer.
var tritonWords = map[string]string{
	"async-copy":                   "The loop at %s waits for what it loads. Raise num_stages, so that the compiler copies the tiles of later rounds asynchronously while it works on this one; it pipelines loads that feed tl.dot, in a loop over tl.range or range.",
	"atomic-contention":            "Programs wait for atomic operations at %s. Reduce within the program first (tl.sum, tl.max) and do one tl.atomic_add for it, on as few addresses shared with others as can be; where its result is not needed, do not use it.",
	"block-increase":               "The grid has too few programs for the GPU's SMs (%s). Make the blocks smaller (BLOCK sizes), or divide the reduction among programs (split-K) and add the parts up by tl.atomic_add or in a second kernel.",
	"code-reordering":              "What is loaded at %s is used too soon. Issue tl.load earlier in the source than the work that does not need it, or let num_stages do it in a loop.",
	"constant-memory":              "All threads read or compute the same at %s. Make sizes and counts that are known when the kernel is compiled tl.constexpr (masks and inner loops may then go altogether), and load scalars once, before the loop.",
	"divergence-reduction":         "At %s warps run with few of their lanes: the blocks are larger than the data, or masks leave most of them out. Choose BLOCK sizes near the sizes of the data, or handle the last, partial block apart.",
	"fast-math":                    "Accurate functions cost most at %s. Use tl.exp2 and tl.log2 with a scaled argument, tl.math's approximate functions, and a multiplication by the reciprocal in place of divisions, where the last bits do not matter.",
	"function-inlining":            "Calls at %s cost moves and branches. Triton inlines functions of its own; calls remain of what is marked noinline.",
	"function-splitting":           "The code that runs is larger than the instruction cache (%s). Unroll less (tl.static_range to range), take smaller blocks, or split the kernel.",
	"if-conversion":                "The condition at %s is evaluated by branches. Combine the operands by & and |, and choose by tl.where.",
	"loop-unrolling":               "The loop at %s has too little under way. Raise num_stages for its loads, or let it go over tl.static_range or tl.range(..., loop_unroll_factor=4); larger blocks a round do as well. Not where registers then leave room for fewer warps.",
	"memory-coalescing":            "Accesses at %s take more sectors than the bytes that they use fill. Let the last tl.arange of the offsets, the one that goes fastest, run along the dimension that is contiguous in memory, and say so by tl.max_contiguous and tl.multiple_of; a tile that is needed the other way is turned by tl.trans after it is loaded.",
	"memory-transaction-reduction": "The queue for memory is full at %s. Let accesses be wide: strides and offsets that are known multiples of 16 bytes (tl.multiple_of, arguments divisible by 16), and at least 4 elements a thread, BLOCK of num_warps * 128 or more.",
	"occupancy-increase":           "An SM holds too few programs (%s). Take fewer registers or less shared memory: smaller BLOCK sizes, lower num_stages, or more num_warps for the same block. Not where values are then spilled to local memory.",
	"redundant-barrier":            "The compiler's barriers at %s order nothing here. Lower num_stages by one or raise it, or change the BLOCK sizes: where it puts barriers follows from the layouts it chooses.",
	"register-bank-conflicts":      "Instructions at %s wait for register banks, which the compiler assigns: other BLOCK sizes or num_warps give another assignment.",
	"register-caching":             "At %s a program loads what it has stored in the round before. Keep the block in a variable through the loop, and store it once behind it.",
	"register-reuse":               "Values are kept in local memory at %s: the program has too many registers. Use smaller BLOCK sizes, more num_warps, or a lower num_stages, or raise maxnreg.",
	"register-tiling":              "At %s the threads of a program load the same data again and again. Give each thread more of the result: larger BLOCK sizes of the dimensions that do not change what is loaded, at the same num_warps, or fewer warps.",
	"restrict-pointers":            "Loads at %s wait for stores that may alias. Load before you store, and keep what is loaded twice in a variable.",
	"restructure":                  "Control flow at %s joins late. Put conditions into masks (tl.where, mask=) instead of branches.",
	"shared-bank-conflicts":        "Threads hit the same bank of shared memory at %s. The compiler chooses the layout: other BLOCK sizes (multiples of 32 along the contiguous dimension), another order of the operands of tl.trans and tl.dot, or num_warps give another one.",
	"shared-memory-tiling":         "At %s programs load the same data again and again. Load a tile once for several uses: larger BLOCK sizes, or tl.dot, which keeps its operands in shared memory. Let programs that share data run side by side (grouped order of program_id) for L2.",
	"single-pass":                  "The loads at %s read again what an earlier pass has read. Do the work of the passes in one, with running values that later data correct (as the maximum and the sum of an online softmax), or keep the whole row in one block.",
	"sm-balance":                   "Some SMs have nothing to do while others work (%s). Take smaller blocks for a shorter last wave, or a persistent kernel: a grid of as many programs as fit, each going through tiles.",
	"strength-reduction":           "Costly operations at %s: integer division and modulo, double precision, conversions. Make divisors tl.constexpr powers of two, and constants of the data's type.",
	"tensor-core-underuse":         "The product at %s does not use tensor cores. Use tl.dot with fp16, bf16 or fp8 operands, or input_precision=\"tf32\", and blocks of at least 16 in each dimension.",
	"tf-reconvergence":             "Threads that part at %s come together late. Put conditions into masks (tl.where, mask=) instead of branches.",
	"thread-coarsening":            "Programs do little beside their indices and accesses (%s). Give each of them more: several rows or heads as a block in two dimensions (offsets [:, None] and [None, :]), or larger BLOCK sizes where masks do not leave the rest out, with num_warps * 128 elements or more, so that there are fewer programs with more under way.",
	"thread-increase":              "A program has too few warps to hide its waits (%s). Raise num_warps, with larger BLOCK sizes where each thread would else have too little.",
	"vectorized-access":            "Accesses at %s move less than 16 bytes a thread. Let pointers and strides be known multiples of 16 bytes (tl.multiple_of, arguments divisible by 16) and BLOCK at least num_warps * 32 times the elements of 16 bytes.",
	"warp-balance":                 "Warps wait at barriers at %s for those that have more to do. Lower num_warps, so that a reduction stays within fewer warps, or take several rows a program.",
	"work-distribution":            "Too few threads share the work at %s. Divide the reduced dimension: a wider BLOCK along it with tl.sum at the end, or more programs that each take a part (split-K) and add up by tl.atomic_add.",
}

// inNumba puts advice in CUDA C++'s words into those of Numba.
func inNumba(text string) string {
	text = unrollDirective.ReplaceAllLiteralString(text, "(by hand, or over a constant range: Numba has no directive for it)")
	return numbaWords.Replace(launchBounds.ReplaceAllString(text, "@cuda.jit(launch_bounds=($1))"))
}

// unrollDirective is how advice says to unroll a loop.
var unrollDirective = regexp.MustCompile(`\(#pragma unroll [0-9]+ before it, or by hand\)`)

// launchBounds is how advice says how many threads a block has, and how many blocks an SM is to hold.
var launchBounds = regexp.MustCompile(`__launch_bounds__\(([0-9, ]+)\)`)

// numbaWords are Numba's names of what advice names in CUDA C++. Numba has no accesses of more than 8 bytes and no asynchronous copies
// (numba-cuda 0.30); variables of the module and of enclosing functions are constants for it.
var numbaWords = strings.NewReplacer(
	"Use cuda::memcpy_async or __pipeline_memcpy_async, and begin the copy for the next round before working on this one (two buffers).",
	"Numba has no asynchronous copies: load the values of the next round into variables before working on this one, and store them behind to the other of two buffers.",
	"Let it take neighbouring elements instead, as vectors (float4, int4, uint4 of halves)", "Let it take two neighbouring elements of 4 bytes instead, "+numbaPair,
	"with accesses to all of them at once as vectors (double2, float4, int4, uint4 of 8 halves)", "two elements of 4 bytes at once "+numbaPair,
	"Let it take neighbouring elements a round in all of them, as vectors (float4, int4, uint4 of halves)", "Let it take two neighbouring elements of 4 bytes a round in all of them, "+numbaPair,
	"Make one test for a vector (float4, int2 or the like, reinterpret_cast<const float4 *>)", "Make one test for two elements of 4 bytes, taken "+numbaPair, "as vectors (float2, int2, uint2 of halves)", numbaPair, "float4, int4, uint4 of halves", "two of 4 bytes", "float2, int2, uint2 of halves", "two of 4 bytes",
	"Use float4, int2 or the like (reinterpret_cast<const float4 *>), so that one instruction moves 8 or 16 bytes", "Take two elements of 4 bytes "+numbaPair+", so that one instruction moves 8 bytes",
	"with one instruction (float4, int2)", "with one instruction, two elements of 4 bytes "+numbaPair,
	"float4 and int4", "8 bytes an access ("+numbaPair+")", "wider types (half2, float4)", "wider types", "uchar4, half2, or a word whose bytes are taken apart", "a word whose bytes are taken apart", " the .x of each float4", " the first part of each",
	"blockDim.x)", "cuda.blockDim.x)", "__syncthreads()", "cuda.syncthreads()", "__syncthreads", "cuda.syncthreads()", "__syncwarp()", "cuda.syncwarp()",
	"__reduce_add_sync, ", "", "__reduce_min_sync and the like, ", "", ", __reduce_add_sync", "", "__shfl_xor_sync", "cuda.shfl_xor_sync", "__shfl_up_sync", "cuda.shfl_up_sync", "__shfl_down_sync", "cuda.shfl_down_sync", "__shfl_sync", "cuda.shfl_sync",
	"__ballot_sync", "cuda.ballot_sync", "__popc", "cuda.popc", "__ffs", "cuda.ffs", "atomicAdd", "cuda.atomic.add", "cub::WarpScan or BlockScan; ", "", "blockIdx.x * blockDim.x + threadIdx.x", "cuda.grid(1)", "gridDim.x * blockDim.x", "cuda.gridsize(1)",
	"threadIdx", "cuda.threadIdx", "blockIdx", "cuda.blockIdx",
	"Make what decides between the cases an argument of a template", "Make what decides between the cases a constant that the kernel is compiled with", "make it an argument of a template (template <int depth>, with the end of the recursion specialised)", "write a function for each",
	"(constexpr, a template parameter, a macro)", numbaConstant, "(a template parameter, constexpr)", numbaConstant, "the row's length as a template parameter or constexpr", "the row's length as a constant of the module", "a constant or a template argument", "a constant "+numbaConstant,
	", and mark read-only pointers const __restrict__ so that loads can move up", "", "If the pointers never overlap, declare them const T *__restrict__ and T *__restrict__; then ", "Load before you store, and keep in a variable what is loaded again: ",
	"(#pragma unroll with __restrict__ pointers, or by hand)", "(by hand)", "(#pragma unroll; ", "(", " (#pragma unroll)", "", "pass the count as an argument, or forbid the unrolling of a short loop (#pragma unroll 1)", "or pass the count as an argument", "Unroll less (#pragma unroll 1)", "Unroll less by hand, and loop over counts that are no constants,",
	"Unroll the loop over the results in full, and load a value before the first result that needs it.",
	"Write the results out as variables, and each row of the window once: its loads, then a line for each result that has the row in its window. Numba unrolls no loop over the results in full, and with an if in it for the window it is slower than now.", "#pragma unroll alone does little here, as the", "The", "#pragma unroll alone does little here", "A constant range alone does little here",
	"Declare the table outside of the kernel as __constant__, where it stands once for all, filled when the module is loaded", "Make it an array of NumPy outside of the kernel, and take it by cuda.const.array_like, where it stands once for all", "or make it a static const __device__ array", "or pass it as an array",
	"__constant__ memory", "constant memory (cuda.const.array_like)", "__constant__", "constant memory", "(float tile[32][33])", "(cuda.shared.array((32, 33), float32))", "a __device__ function", "a device function (@cuda.jit(device=True))",
	"__shared__ float tile[BLOCK_Y + 2 * RADIUS][BLOCK_X + 2 * RADIUS]", "cuda.shared.array((BLOCK_Y + 2 * RADIUS, BLOCK_X + 2 * RADIUS), float32)",
	"If __launch_bounds__ or -maxrregcount limits the registers", "If max_registers of @cuda.jit limits the registers", "-maxrregcount", "max_registers of @cuda.jit",
	"write __fdividef(x, y) or, for a constant divisor, x * (1.0f / c); rsqrtf(x) for 1 / sqrtf(x); __sinf(x); __expf(x); __logf(x).",
	"call libdevice's fast functions (libdevice.fast_fdividef, libdevice.rsqrtf, libdevice.fast_sinf, fast_expf, fast_logf), or multiply by float32(1 / c) for a constant divisor.",
	"-use_fast_math does so for the whole file, for division alone -prec-div=false, for square roots -prec-sqrt=false", "@cuda.jit(fastmath=True) does so for the whole kernel", " -use_fast_math is no way to it", " fastmath=True is no way to it",
	"pow or powf with", "a power with", "x * x for pow(x, 2), double x2 = x * x, x6", "x * x for x ** 2, x2 = x * x, x6", "for pow(x, 6)", "for x ** 6", "and powf of a negative number is NaN with it", "and a power of a negative number is NaN with it", "powf of a negative number is NaN then", "a power of a negative number is NaN then",
	"pow of a float and an integer computes in double precision: a product of floats stays in single precision.", "A power of a float32 with an integer may compute in double precision: a product stays in single precision.",
	"use __fdividef or -use_fast_math", "use libdevice.fast_fdividef or fastmath=True", "rsqrtf(x) for 1/sqrtf(x)", "libdevice.rsqrtf(x) for 1/math.sqrt(x)",
	"mark it __forceinline__", "let it be a device function that the compiler inlines (inline=True)", " (__noinline__)", " (a device function with inline=False)",
	"write 2.0f", "write float32(2.0)", "constants with f (1.0f), functions with f (expf, logf)", "constants as float32(1.0), functions of such arguments", "use nvcuda::wmma or mma.sync (CUTLASS), or call cuBLAS", "call a library (cuBLAS): Numba has none",
)

// numbaPair is how a thread of Numba takes 8 bytes at once: Numba loads the parts of complex numbers and of records one by one, but not an integer's.
const numbaPair = "as one of 8 (the array's view(np.int64), taken apart by shifts and libdevice.int_as_float)"

// numbaConstant is how one says to Numba what does not change.
const numbaConstant = "(a variable of the module or of the function around the kernel)"
