package solib

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Linkers find the functions by the sections: Triton links a library of its own with the driver's. Loaders map the segments.
func TestSections(t *testing.T) {
	for name, m := range machines {
		code := assembled(t, name)
		for _, version := range []string{"", "libone.so.1"} {
			l := &Library{Soname: "libone.so.1", Version: version, Names: []string{"one", "", "two"}, Socket: "/none"}
			image, err := l.image(m, code)
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.NewFile(bytes.NewReader(image.Bytes))
			if err != nil {
				t.Fatal(err)
			}
			if f.Machine != m.elf || f.Type != elf.ET_DYN {
				t.Errorf("%s: a file of %v for %v", name, f.Type, f.Machine)
			}
			symbols, err := f.DynamicSymbols()
			if err != nil || len(symbols) != 2 || symbols[0].Name != "one" || symbols[1].Name != "two" || symbols[0].Version != version {
				t.Errorf("%s: symbols %+v, %v", name, symbols, err)
			}
			if names, err := f.DynString(elf.DT_SONAME); err != nil || len(names) != 1 || names[0] != "libone.so.1" {
				t.Errorf("%s: soname %q, %v", name, names, err)
			}
			segments(t, name, f)
			link(t, name, image.Bytes)
		}
	}
}

// segments checks that no page of a system holds two segments, as each has a protection of its own, and that all that is loaded lies in one.
func segments(t *testing.T, name string, f *elf.File) {
	t.Helper()
	page, end := uint64(machines[name].page), uint64(0)
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if p.Align != page || p.Vaddr%page != p.Off%page || p.Vaddr/page < (end+page-1)/page {
			t.Errorf("%s: segment %+v, with pages of %d bytes and another that ends at %#x", name, p.ProgHeader, page, end)
		}
		if at := f.Section(".shstrtab").Offset; p.Off+p.Filesz > at {
			t.Errorf("%s: what is loaded ends at %#x, behind the names of the sections at %#x", name, p.Off+p.Filesz, at)
		}
		end = p.Vaddr + p.Memsz
	}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Addr+s.Size > end {
			t.Errorf("%s: section %s ends at %#x, what is loaded at %#x", name, s.Name, s.Addr+s.Size, end)
		}
	}
}

// processors are the machines by their names in what C compilers call their targets.
var processors = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// compilerFor finds a C compiler for Linux on a machine, "" where there is none.
func compilerFor(machine string) string {
	for _, name := range []string{"gcc", processors[machine] + "-linux-gnu-gcc"} {
		target, err := exec.Command(name, "-dumpmachine").Output()
		if err == nil && strings.HasPrefix(string(target), processors[machine]+"-") && strings.Contains(string(target), "linux") {
			return name
		}
	}
	return ""
}

// link links a library that calls one of the functions, where there is a C compiler.
func link(t *testing.T, machine string, library []byte) {
	t.Helper()
	compiler := compilerFor(machine)
	if compiler == "" {
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
		t.Errorf("%s: the library needs %q, %v", machine, needed, err)
	}
}
