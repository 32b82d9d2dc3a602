package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"
)

// loadedBase is where the sections of a test's cubin are said to lie in a GPU's memory, each loadedStride behind the one before.
const (
	loadedBase   = 0x7f48_1325_0000
	loadedStride = 0x1_0000
)

// load makes the symbols of a cubin addresses, as they are where a profiler took the cubin from a GPU's memory: those of kernels, of
// other functions and of the sections where they are asked for, and those of variables, with a gap between them.
func load(t *testing.T, data []byte, others, sections bool) []byte {
	t.Helper()
	r := reader{file: &File{Raw: bytes.Clone(data)}}
	for _, step := range []func() error{r.readHeader, r.readSections, r.readSymbols} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	table := r.file.SectionData(r.byName[".symtab"])
	for i, s := range r.symbols {
		address := loadedBase + uint64(s.section)*loadedStride + s.value
		switch {
		case s.section == 0:
			continue
		case s.kind == elf.STT_FUNC && (s.entry || others), s.kind == elf.STT_SECTION && sections && r.file.Sections[s.section].Flags&elf.SHF_EXECINSTR != 0:
		case s.kind == elf.STT_OBJECT:
			address += uint64(i) * 0x100
		default:
			continue
		}
		binary.LittleEndian.PutUint64(table[i*symbolSize+8:], address)
	}
	return r.file.Raw
}

// A cubin that was taken from a GPU's memory has the functions and the lines of the file that was loaded.
func TestLoaded(t *testing.T) {
	for _, name := range []string{"testdata/module.cubin", "testdata/linked.cubin", "../kernels/basic/compact/compact.sm_75.cubin"} {
		data, err := ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := NewFile(name, data)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ others, sections bool }{{false, false}, {true, false}, {true, true}} {
			got, err := NewFile(name, load(t, data, c.others, c.sections))
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			for i, code := range got.Codes {
				if address := uint64(loadedBase + code.Section*loadedStride); code.Address != address && (c.others || got.KernelOf(code) != nil) {
					t.Errorf("%s %+v: section %s at %#x, want %#x", name, c, code.Name, code.Address, address)
				}
				if !slices.Equal(code.Functions, want.Codes[i].Functions) {
					t.Errorf("%s %+v: section %s has functions\n%v, want\n%v", name, c, code.Name, code.Functions, want.Codes[i].Functions)
				}
				for pc := uint64(0); pc < code.Size(); pc += 16 {
					if !slices.Equal(code.Frames(pc), want.Codes[i].Frames(pc)) {
						t.Fatalf("%s %+v: other lines at %#x of %s", name, c, pc, code.Name)
					}
				}
			}
		}
	}
}

// Functions of one name, which different source files may have to themselves, are two functions with the attributes of each.
func TestFunctionsOfOneName(t *testing.T) {
	data := read(t, "linked.cubin")
	r := reader{file: &File{Raw: data}}
	for _, step := range []func() error{r.readHeader, r.readSections, r.readSymbols} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	name := func(section string) []byte { return data[r.header.Shoff+uint64(r.byName[section])*sectionSize:][:4] }
	copy(name(".text._Z6squarei"), name(".text._Z5twicei"))
	copy(name(".nv.info._Z6squarei"), name(".nv.info._Z5twicei"))
	entry := func(function string) []byte {
		i := slices.IndexFunc(r.symbols, func(s symbol) bool { return s.name == function && s.kind == elf.STT_FUNC })
		return r.file.SectionData(r.byName[".symtab"])[i*symbolSize:][:4]
	}
	copy(entry("_Z6squarei"), entry("_Z5twicei"))
	got, err := NewFile("linked", data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := NewFile("linked", read(t, "linked.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	for i, code := range got.Codes {
		same := want.Codes[i].Name
		if same == "_Z6squarei" {
			same = "_Z5twicei"
		}
		if code.Name != same || code.Functions[0].Name != same || !slices.Equal(code.Insts[0].Operands, want.Codes[i].Insts[0].Operands) {
			t.Errorf("section %d is %s with function %s, want %s", code.Section, code.Name, code.Functions[0].Name, same)
		}
	}
}
