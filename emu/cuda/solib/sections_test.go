//go:build linux && (amd64 || arm64)

package solib_test

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpa/emu/cuda/solib"
)

// Linkers find the functions by the sections: Triton links a library of its own with the driver's.
func TestSections(t *testing.T) {
	for _, version := range []string{"", "libone.so.1"} {
		l := &solib.Library{Soname: "libone.so.1", Version: version, Names: []string{"one", "", "two"}, Socket: "/none"}
		image, err := l.Image()
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(image.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil || len(symbols) != 2 || symbols[0].Name != "one" || symbols[1].Name != "two" || symbols[0].Version != version {
			t.Errorf("symbols %+v, %v", symbols, err)
		}
		if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != "libone.so.1" {
			t.Errorf("soname %q, %v", names, err)
		}
		for _, p := range f.Progs {
			if at := f.Section(".shstrtab").Offset; p.Type == elf.PT_LOAD && p.Off+p.Filesz > at {
				t.Errorf("what is loaded ends at %#x, behind the names of the sections at %#x", p.Off+p.Filesz, at)
			}
		}
		link(t, image.Bytes)
	}
}

// link links a library that calls one of the functions, where there is a C compiler.
func link(t *testing.T, library []byte) {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libone.so.1"), library, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "user.c"), []byte("int one(void); int use(void) { return one(); }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "user.so")
	if text, err := exec.Command(compiler, "-shared", "-fPIC", "-o", out, filepath.Join(dir, "user.c"), "-L"+dir, "-l:libone.so.1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if needed, err := f.ImportedLibraries(); err != nil || !strings.Contains(strings.Join(needed, " "), "libone.so.1") {
		t.Errorf("the library needs %q, %v", needed, err)
	}
}
