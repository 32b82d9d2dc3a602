package kernels

import (
	"bytes"
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
	if !expected[name+".sm_70.cubin"] {
		t.Errorf("no launch file runs %s.sm_70.cubin", name)
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

// Cubins and launch files belong to the sources beside them: the cubin says sm_70 and names the source in its line table,
// and no path of the machine that built it.
func TestCubins(t *testing.T) {
	const machine, flags = 18, 48 // e_machine and e_flags of a 64-bit ELF header
	for _, dir := range corpusDirs(t) {
		t.Run(dir, func(t *testing.T) {
			name := path.Base(dir)
			data, err := os.ReadFile(filepath.Join(dir, name+".sm_70.cubin"))
			if err != nil {
				t.Fatal(err)
			}
			if len(data) < 64 || string(data[:4]) != "\x7fELF" || data[machine] != 190 || data[flags] != 70 {
				t.Fatal("not a cubin for sm_70")
			}
			if !bytes.Contains(data, []byte("\x00"+name+".cu\x00")) {
				t.Errorf("the line table does not name %s.cu", name)
			}
			if path := absolute.Find(data); path != nil {
				t.Errorf("the cubin holds the path %q", path)
			}
		})
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
	const most = 6 << 20
	if total > most {
		t.Errorf("the corpus takes %d bytes, more than 6 MiB", total)
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
