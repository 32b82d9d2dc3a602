// Package kernels holds the corpus: CUDA kernels as NVIDIA's compiler built them, with launch files, inputs and expected
// outputs. A few of them are embedded, so that a bare binary has something to run.
package kernels

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed basic/vecadd basic/saxpy basic/reduce_shared basic/transpose_naive
//go:embed linear/sgemm_tiled linear/spmv stencil/hotspot graph/bfs
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

// Names lists the embedded kernels.
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
	b, ok := find(name)
	if !ok {
		return nil, fmt.Errorf("there is no built-in kernel %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return fs.Sub(embedded, b.directory)
}

func find(name string) (builtin, bool) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return builtin{}, false
	}
	return builtins[i], true
}
