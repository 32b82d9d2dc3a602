package kernels

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// corpusDirs lists the directories of all kernels, as suite/name.
func corpusDirs(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*/*/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no kernels found: %v", err)
	}
	dirs := make([]string, len(sources))
	for i, source := range sources {
		dirs[i] = filepath.ToSlash(filepath.Dir(source))
		if path.Base(dirs[i])+".cu" != filepath.Base(source) {
			t.Errorf("%s is not named after its directory", source)
		}
	}
	return dirs
}

// architectures are those that the corpus is built for.
var architectures = []int{70, 75, 80, 86, 89, 90}

// cubinNames lists the cubins that a kernel's directory has to have: those for the first architecture that the kernel can
// run on, and for all later ones.
func cubinNames(t *testing.T, dir fs.FS, name string) []string {
	t.Helper()
	var names []string
	for _, a := range architectures {
		cubin := fmt.Sprintf("%s.sm_%d.cubin", name, a)
		if _, err := fs.Stat(dir, cubin); err == nil || len(names) > 0 {
			names = append(names, cubin)
		}
	}
	return names
}

// referenced finds the files that a launch file names.
var referenced = regexp.MustCompile(`(?:module:|file:)\s*([\w.-]+)`)

// checkFiles makes sure that a kernel's directory has its source, cubin, launch file and what that names, and nothing else
// but what a reference script leaves.
func checkFiles(t *testing.T, dir fs.FS, name string) {
	t.Helper()
	expected := map[string]bool{name + ".cu": true, "reference.py": true}
	launches, err := fs.Glob(dir, "launch*.yaml")
	if err != nil || len(launches) == 0 {
		t.Fatalf("no launch file: %v", err)
	}
	for _, launch := range launches {
		expected[launch] = true
		text, err := fs.ReadFile(dir, launch)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range referenced.FindAllStringSubmatch(string(text), -1) {
			expected[m[1]] = true
		}
	}
	cubins := cubinNames(t, dir, name)
	if len(cubins) == 0 || !expected[cubins[0]] {
		t.Errorf("no launch file runs the first of %v", cubins)
	}
	for _, cubin := range cubins {
		expected[cubin] = true
	}
	for file := range expected {
		if info, err := fs.Stat(dir, file); err != nil {
			t.Error(err)
		} else if info.Size() == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !expected[entry.Name()] && entry.Name() != "expected.txt" {
			t.Errorf("%s is not used by any launch file", entry.Name())
		}
	}
}

func TestCorpusIsComplete(t *testing.T) {
	seen := make(map[string]string)
	for _, dir := range corpusDirs(t) {
		t.Run(dir, func(t *testing.T) {
			name := path.Base(dir)
			if other, ok := seen[name]; ok {
				t.Errorf("%s and %s have the same name", dir, other)
			}
			seen[name] = dir
			checkFiles(t, os.DirFS(dir), name)
		})
	}
}

// absolute finds absolute paths with at least one folder among the strings of a cubin.
var absolute = regexp.MustCompile(`\x00/\w+/[\w./-]+`)

// Cubins and launch files belong to the sources beside them: the cubin says its architecture and names the source in its
// line table, and no path of the machine that built it.
func TestCubins(t *testing.T) {
	for _, dir := range corpusDirs(t) {
		t.Run(dir, func(t *testing.T) {
			for _, cubin := range cubinNames(t, os.DirFS(dir), path.Base(dir)) {
				checkCubin(t, dir, cubin)
			}
		})
	}
}

func checkCubin(t *testing.T, dir, cubin string) {
	const machine, flags = 18, 48 // e_machine and e_flags of a 64-bit ELF header
	name := path.Base(dir)
	data, err := os.ReadFile(filepath.Join(dir, cubin))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 64 || string(data[:4]) != "\x7fELF" || data[machine] != 190 {
		t.Fatalf("%s is not a cubin", cubin)
	}
	if want := fmt.Sprintf("%s.sm_%d.cubin", name, data[flags]); cubin != want {
		t.Errorf("%s is for sm_%d", cubin, data[flags])
	}
	if !bytes.Contains(data, []byte("\x00"+name+".cu\x00")) {
		t.Errorf("the line table of %s does not name %s.cu", cubin, name)
	}
	if path := absolute.Find(data); path != nil {
		t.Errorf("%s holds the path %q", cubin, path)
	}
}

// The corpus stays small enough to be cloned without a thought.
func TestCorpusSize(t *testing.T) {
	var total int64
	for _, dir := range corpusDirs(t) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			info, err := entry.Info()
			if err != nil {
				t.Fatal(err)
			}
			total += info.Size()
		}
	}
	const most = 36 << 20
	if total > most {
		t.Errorf("the corpus takes %d bytes, more than 36 MiB", total)
	}
}

func TestBuiltins(t *testing.T) {
	names := Names()
	if len(names) != 8 {
		t.Errorf("%d kernels are built in, want 8", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			about := Describe(name)
			if about == "" || strings.Contains(about, "\n") {
				t.Errorf("description %q is not one line", about)
			}
			dir, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			checkFiles(t, dir, name)
		})
	}
}

// TestBenchmarks holds that no two kernels are of one suite, and that all that its launch file needs is embedded.
func TestBenchmarks(t *testing.T) {
	suites := make(map[string]bool)
	for _, directory := range benchmarks {
		suites[path.Dir(directory)] = true
		name := path.Base(directory)
		dir, err := Open(name)
		if err != nil || !Has(name) {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := fs.ReadFile(dir, LaunchFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range referenced.FindAllStringSubmatch(string(text), -1) {
			if _, err := fs.Stat(dir, m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if len(suites) != len(benchmarks) || Has("nothing") {
		t.Errorf("%d kernels of %d suites", len(benchmarks), len(suites))
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, name := range []string{"", "nothing", "basic/vecadd", "../vecadd"} {
		_, err := Open(name)
		if err == nil || !strings.Contains(err.Error(), "vecadd, saxpy") {
			t.Errorf("Open(%q): %v, want an error that lists the kernels", name, err)
		}
		if Describe(name) != "" {
			t.Errorf("Describe(%q) is not empty", name)
		}
	}
}

// The README lists every kernel, and marks the built-in ones.
func TestReadmeListsKernels(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range corpusDirs(t) {
		row := "\n| " + dir + " |"
		if slices.Contains(Names(), path.Base(dir)) {
			row = "\n| " + dir + " * |"
		}
		if !bytes.Contains(readme, []byte(row)) {
			t.Errorf("README.md has no row for %s, or marks it wrongly", dir)
		}
	}
}
