package compile

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestFindCompiler finds the nvcc of NVIDIA's Python packages.
func TestFindCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	home := t.TempDir()
	nvcc := filepath.Join(home, "lib", "python3.11", "site-packages", "nvidia", "cu13", "bin", "nvcc")
	if err := os.MkdirAll(filepath.Dir(nvcc), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nvcc, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := findNvcc(func(name string) string { return map[string]string{"VIRTUAL_ENV": home}[name] }); got != nvcc {
		t.Errorf("%q", got)
	}
}

// TestFindNVRTC finds the library of NVIDIA's Python packages, and the Python that can load it, where there is no nvcc.
func TestFindNVRTC(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"VIRTUAL_ENV": home}[name] }
	if _, err := Find(getenv); err != ErrNoCompiler {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "bin/python3"} {
		name = filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Find(getenv)
	if err != nil || c.words[0] != filepath.Join(home, "bin", "python3") || filepath.Base(c.words[3]) != "libnvrtc.so.12" {
		t.Errorf("%v, %v", c, err)
	}
	b := Builder{Find: func() (*Compiler, error) { return c, nil }}
	if _, err := b.Program(t.Context(), "a.cu", 80); err == nil {
		t.Error("NVRTC makes no program")
	}
}

func TestIsProgram(t *testing.T) {
	for text, want := range map[string]bool{
		"int main() {}": true, "auto main(int argc, char **argv) -> int {}": true, "int\nmain (void) {}": true,
		"// int main() {}": false, "\"int main()\"": false, "__global__ void main_loop(int main) {}": false, "f(main());": false, "": false,
	} {
		if got := IsProgram([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestIncluded follows headers in quotes, each once.
func TestIncluded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.cu": "#include <cstdio>\n#include \"b.cuh\"\n  #  include \"sub/c.cuh\" // here\n#include \"missing.h\"\n", "b.cuh": "#include \"a.cu\"\n", "sub/c.cuh": "#include \"d.cuh\"\n", "sub/d.cuh": "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, name := range included(filepath.Join(dir, "a.cu"), nil) {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, rel)
	}
	if want := []string{"a.cu", "b.cuh", "sub/c.cuh", "sub/d.cuh"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestDependencies reads what nvcc 13.5 writes of a source with a space in its name.
func TestDependencies(t *testing.T) {
	written := filepath.Join(t.TempDir(), "read")
	if err := os.WriteFile(written, []byte("/tmp/out : my\\ app.cu \\\n    /usr/include/a.h \\\n    near.cuh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := dependencies("/src/my app.cu", written)
	if want := []string{"/src/my app.cu", "/usr/include/a.h", "/src/near.cuh", "/src/my app.cu"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestChanged ends with a change of a file that is watched, also of one that was there before and is gone, and not with what is no longer watched.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func()
		ends   bool
	}{
		"nothing":              {func() {}, false},
		"another":              {func() { write("a", "longer") }, true},
		"gone":                 {func() { os.Remove(file("a")) }, true},
		"made":                 {func() { write("new", "1") }, true},
		"no longer watched":    {func() { write("c", "longer") }, false},
		"watched from now on":  {func() { write("b", "longer") }, true},
		"in a file of its own": {func() { write("other", "1") }, false},
	} {
		for _, old := range []string{"a", "b", "c"} {
			write(old, "1")
		}
		os.Remove(file("new"))
		before := Stamp([]string{file("a"), file("c"), file("new")})
		patience := 4 * settled
		if c.ends {
			patience = time.Minute
		}
		ctx, stop := context.WithTimeout(t.Context(), patience)
		ended := make(chan error)
		go func() { ended <- Changed(ctx, before, []string{file("a"), file("b"), file("new")}) }()
		time.Sleep(settled / 2)
		c.change()
		if err := <-ended; (err == nil) != c.ends {
			t.Errorf("%s: %v", name, err)
		}
		stop()
	}
}

// TestPrune leaves the newest builds, and the one that was made just now.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	for i := range mostKept + 5 {
		name := filepath.Join(dir, strconv.Itoa(i))
		for _, file := range []string{name, name + recordEnd} {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(name+recordEnd, at, at); err != nil {
			t.Fatal(err)
		}
	}
	prune(dir, filepath.Join(dir, "0"))
	for i := range mostKept + 5 {
		name := filepath.Join(dir, strconv.Itoa(i))
		_, build := os.Stat(name)
		_, record := os.Stat(name + recordEnd)
		if want := i == 0 || i >= 5; (build == nil) != want || (record == nil) != want {
			t.Errorf("%d: %v, %v", i, build, record)
		}
	}
}

func TestSplitWords(t *testing.T) {
	got, err := splitWords(`a  'b c' --d="e f" "" g`)
	if want := []string{"a", "b c", "--d=e f", "", "g"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAbsoluteFolders(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := absoluteFolders([]string{"-I..", "-isystem", "a", "-I", "/b", "-O3"})
	if want := []string{"-I" + filepath.Dir(here), "-isystem", filepath.Join(here, "a"), "-I", "/b", "-O3"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}
