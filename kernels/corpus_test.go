package kernels

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
)

// corpusDirs lists the directories of all kernels, as suite/name.
func corpusDirs(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*/*/*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no kernels found: %v", err)
	}
	var dirs []string
	for _, source := range sources {
		dir := filepath.ToSlash(filepath.Dir(source))
		if path.Dir(dir) == "ladders" { // TestLadders sees to them
			continue
		}
		if path.Base(dir)+".cu" != filepath.Base(source) {
			t.Errorf("%s is not named after its directory", source)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// architectures are those that the corpus is built for, laterArchitectures those that a part of it is.
var (
	architectures      = []int{70, 75, 80, 86, 89, 90}
	laterArchitectures = []int{100, 120}
)

// cubinNames lists the cubins that a kernel's directory has to have: those for the first architecture that the kernel can
// run on, for all later ones up to sm_90, and what there is for those behind.
func cubinNames(t *testing.T, dir fs.FS, name string) []string {
	t.Helper()
	var names []string
	for _, a := range architectures {
		cubin := fmt.Sprintf("%s.sm_%d.cubin.gz", name, a)
		if _, err := fs.Stat(dir, cubin); err == nil || len(names) > 0 {
			names = append(names, cubin)
		}
	}
	for _, a := range laterArchitectures {
		cubin := fmt.Sprintf("%s.sm_%d.cubin.gz", name, a)
		if _, err := fs.Stat(dir, cubin); err == nil {
			names = append(names, cubin)
		}
	}
	return names
}

// referenced finds the files that a launch file names.
var referenced = regexp.MustCompile(`(?:module:|file:)\s*([\w./-]+)`)

// filesOf lists the files that the launch files of a kernel's directory name, as paths of the corpus: kernels that are
// compared with each other share what is equal.
func filesOf(t *testing.T, corpus fs.FS, dir string) []string {
	t.Helper()
	launches, err := fs.Glob(corpus, dir+"/launch*.yaml")
	if err != nil || len(launches) == 0 {
		t.Fatalf("no launch file in %s: %v", dir, err)
	}
	files := launches
	for _, launch := range launches {
		text, err := fs.ReadFile(corpus, launch)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range referenced.FindAllStringSubmatch(string(text), -1) {
			file := path.Join(dir, m[1])
			if _, err := fs.Stat(corpus, file); errors.Is(err, fs.ErrNotExist) && path.Ext(file) != ".tsv" { // it stands there compressed
				file += cubin.Compressed
			}
			files = append(files, file)
		}
	}
	return files
}

// checkFiles makes sure that a kernel's directory has its source, cubins, launch files and what those name, and nothing else
// but what a reference script leaves.
func checkFiles(t *testing.T, corpus fs.FS, dir string) {
	t.Helper()
	name := path.Base(dir)
	own := map[string]bool{path.Join(dir, name+".cu"): true, path.Join(dir, "reference.py"): true}
	for _, file := range filesOf(t, corpus, dir) {
		own[file] = true
	}
	sub, err := fs.Sub(corpus, dir)
	if err != nil {
		t.Fatal(err)
	}
	cubins := cubinNames(t, sub, name)
	if len(cubins) == 0 || !own[path.Join(dir, cubins[0])] {
		t.Errorf("no launch file runs the first of %v", cubins)
	}
	for _, cubin := range cubins {
		own[path.Join(dir, cubin)] = true
	}
	for file := range own {
		if info, err := fs.Stat(corpus, file); err != nil {
			t.Error(err)
		} else if info.Size() == 0 {
			t.Errorf("%s is empty", file)
		}
	}
	entries, err := fs.ReadDir(corpus, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !own[path.Join(dir, entry.Name())] && entry.Name() != "expected.txt" {
			t.Errorf("%s is not used by any launch file of its directory", entry.Name())
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
			checkFiles(t, os.DirFS("."), dir)
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
				checkCubin(t, dir, cubin, path.Base(dir))
			}
		})
	}
}

// checkCubin checks a cubin of the source NAME.cu in a folder.
func checkCubin(t *testing.T, dir, file, name string) {
	t.Helper()
	const osabi, machine, flags, osabiLater = 7, 18, 48, 0x41 // places in a 64-bit ELF header, and what sm_100 and later have there
	data, err := cubin.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) < 64 || string(data[:4]) != "\x7fELF" || data[machine] != 190 {
		t.Fatalf("%s is not a cubin", file)
	}
	sm := data[flags]
	if data[osabi] == osabiLater {
		sm = data[flags+1]
	}
	if want := fmt.Sprintf("%s.sm_%d.cubin.gz", name, sm); file != want {
		t.Errorf("%s is for sm_%d", file, sm)
	}
	if !bytes.Contains(data, []byte("\x00"+name+".cu\x00")) {
		t.Errorf("the line table of %s does not name %s.cu", file, name)
	}
	if path := absolute.Find(data); path != nil {
		t.Errorf("%s holds the path %q", file, path)
	}
}

// Of two equal arrays one is too many: a launch file can name an array in the directory of another kernel. Small ones are left
// alone, for the sake of directories that are complete.
func TestNoArrayTwice(t *testing.T) {
	const small = 1 << 10
	seen := make(map[[sha256.Size]byte]string)
	for _, file := range corpusFiles(t) {
		if filepath.Ext(file) != ".npy" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < small {
			continue
		}
		sum := sha256.Sum256(data)
		if other, ok := seen[sum]; ok {
			t.Errorf("%s and %s are equal", other, file)
		}
		seen[sum] = file
	}
}

// The corpus stays small enough to be cloned without a thought. It takes 20.6 MiB; there is room for two more architectures, of
// 0.4 MiB each, and for a hundred small kernels of 40 KiB each with their outputs.
func TestCorpusSize(t *testing.T) {
	var total int64
	for _, file := range corpusFiles(t) {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	const most = 25 << 20
	if total > most {
		t.Errorf("the corpus takes %d bytes, more than %d", total, most)
	}
}

// corpusFiles lists the files below kernels/.
func corpusFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no files found: %v", err)
	}
	return files
}

// What is embedded makes every program larger: mostly the inputs and outputs of the kernels that speed is measured on.
func TestEmbeddedSize(t *testing.T) {
	var total int64
	err := fs.WalkDir(embedded, ".", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	const most = 2 << 20
	if err != nil || total > most || total == 0 {
		t.Errorf("%d bytes are embedded, at most %d may be: %v", total, most, err)
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
			checkFiles(t, embedded, directory(name))
		})
	}
}

// TestBenchmarks holds that no two of the largest kernels are of one suite, and that all that a launch file needs is embedded.
func TestBenchmarks(t *testing.T) {
	suites := make(map[string]bool)
	for _, directory := range benchmarks {
		suites[path.Dir(directory)] = true
	}
	for _, directory := range measured() {
		name := path.Base(directory)
		if _, err := Open(name); err != nil || !Has(name) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, file := range filesOf(t, embedded, directory) {
			if _, err := fs.Stat(embedded, file); err != nil {
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
