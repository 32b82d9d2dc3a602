// Package kernels holds the corpus: CUDA kernels as NVIDIA's compiler built them, with launch files, inputs and expected
// outputs. A few of them are embedded, so that a bare binary has something to run.
package kernels

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed basic/vecadd basic/saxpy basic/reduce_shared basic/transpose_naive
//go:embed linear/sgemm_tiled linear/spmv stencil/hotspot graph/bfs
//go:embed applied/softmax/launch.yaml applied/softmax/*.cu applied/softmax/*.sm_70.cubin.gz applied/softmax/*.npy.gz
//go:embed control/state_machine/launch.yaml control/state_machine/*.cu control/state_machine/*.sm_70.cubin.gz control/state_machine/*.npy.gz
//go:embed divergence/suffix_tree/launch.yaml divergence/suffix_tree/*.cu divergence/suffix_tree/*.sm_70.cubin.gz divergence/suffix_tree/*.npy.gz
//go:embed frozen/knn/launch.yaml frozen/knn/*.cu frozen/knn/*.sm_70.cubin.gz frozen/knn/*.npy.gz
//go:embed linear/dgemv_warp/launch.yaml linear/dgemv_warp/*.cu linear/dgemv_warp/*.sm_70.cubin.gz linear/dgemv_warp/*.npy
//go:embed math/nbody_lanes/launch.yaml math/nbody_lanes/*.cu math/nbody_lanes/*.sm_70.cubin.gz math/nbody_lanes/*.npy
//go:embed patterns/digits_registers/launch.yaml patterns/digits_registers/*.cu patterns/digits_registers/*.sm_70.cubin.gz patterns/digits_registers/*.npy.gz
//go:embed sort/bitonic/launch.yaml sort/bitonic/*.cu sort/bitonic/*.sm_70.cubin.gz sort/bitonic/*.npy
//go:embed tuning/norms_threads/launch.yaml tuning/norms_threads/*.cu tuning/norms_threads/*.sm_70.cubin.gz tuning/norms_threads/*.npy
//go:embed tuning/rows_blocked/launch.yaml tuning/rows_blocked/*.cu tuning/rows_blocked/*.sm_70.cubin.gz tuning/rows_blocked/*.npy
var embedded embed.FS

// LaunchFile is the name of the launch file in a kernel's directory.
const LaunchFile = "launch.yaml"

// A builtin is an embedded kernel; its name is the last element of its directory.
type builtin struct{ directory, about string }

// builtins is in the order in which a newcomer should meet them.
var builtins = [...]builtin{
	{"basic/vecadd", "c = a + b: bound by memory latency"},
	{"basic/saxpy", "y = a·x + y in a grid-stride loop"},
	{"basic/reduce_shared", "sum by a divergent tree in shared memory"},
	{"basic/transpose_naive", "matrix transpose with uncoalesced stores"},
	{"linear/sgemm_tiled", "single-precision matrix product with tiles in shared memory"},
	{"linear/spmv", "sparse matrix (CSR) times vector, one row a thread"},
	{"stencil/hotspot", "2D heat stencil with a double constant among floats"},
	{"graph/bfs", "breadth-first search, level by level"},
}

// benchmarks are the kernels that speed is measured on: of each suite of the corpus the one that executes the most warp
// instructions on sm_70, as of when the set was chosen. Those that are not among the built-in ones are embedded for sm_70 alone.
var benchmarks = [...]string{
	"applied/softmax",
	"basic/reduce_shared",
	"control/state_machine",
	"divergence/suffix_tree",
	"frozen/knn",
	"graph/bfs",
	"linear/dgemv_warp",
	"math/nbody_lanes",
	"patterns/digits_registers",
	"sort/bitonic",
	"stencil/hotspot",
	"tuning/rows_blocked",
}

// naive are more of them: kernels as they are written first, whose accesses touch many lines each. They are the slowest for an
// instruction.
var naive = [...]string{
	"basic/transpose_naive",
	"tuning/norms_threads",
}

// measured lists the directories of the kernels that speed is measured on.
func measured() []string { return slices.Concat(benchmarks[:], naive[:]) }

// Benchmarks lists the kernels that speed is measured on. [Open] has them all.
func Benchmarks() []string {
	names := measured()
	for i, directory := range names {
		names[i] = path.Base(directory)
	}
	return names
}

// Has reports whether [Open] has a kernel.
func Has(name string) bool { return directory(name) != "" }

// directory returns where an embedded kernel lies, empty where there is none of the name.
func directory(name string) string {
	if b, ok := find(name); ok {
		return b.directory
	}
	if i := slices.Index(Benchmarks(), name); i >= 0 {
		return measured()[i]
	}
	return ""
}

// Names lists the built-in kernels.
func Names() []string {
	names := make([]string, len(builtins))
	for i, b := range builtins {
		names[i] = path.Base(b.directory)
	}
	return names
}

// Describe says in a line what an embedded kernel does; it is empty for other names.
func Describe(name string) string {
	if b, ok := find(name); ok {
		return b.about
	}
	return ""
}

// Open returns the directory of an embedded kernel: [LaunchFile] and the files that it names, and the CUDA source.
func Open(name string) (fs.FS, error) {
	d := directory(name)
	if d == "" {
		return nil, fmt.Errorf("there is no built-in kernel %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return fs.Sub(embedded, d)
}

func find(name string) (builtin, bool) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return builtin{}, false
	}
	return builtins[i], true
}

// List writes the built-in kernels with what they are, a line each.
func List(w io.Writer) error {
	fmt.Fprintln(w, "Built-in kernels, as in gpa profile vecadd:")
	for _, name := range Names() {
		if _, err := fmt.Fprintf(w, "  %-16s %s\n", name, Describe(name)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "A CUDA source, a launch file or a cubin of your own goes in the same place; gpa profile --help says how.")
	return err
}
