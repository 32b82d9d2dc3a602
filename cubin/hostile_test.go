package cubin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A patch damages the bytes of a cubin.
type patch func(data []byte)

func put16(at int, v uint16) patch {
	return func(data []byte) { binary.LittleEndian.PutUint16(data[at:], v) }
}

func put32(at int, v uint32) patch {
	return func(data []byte) { binary.LittleEndian.PutUint32(data[at:], v) }
}

// inHeader damages a 64-bit field of a section's header.
func inHeader(t *testing.T, section string, field int, v uint64) patch {
	return func(data []byte) {
		at := int(binary.LittleEndian.Uint64(data[0x28:])) + sectionIndex(t, data, section)*sectionSize + field
		binary.LittleEndian.PutUint64(data[at:], v)
	}
}

// inSection damages a byte of a section's contents.
func inSection(t *testing.T, section string, at int, v byte) patch {
	return func(data []byte) {
		header := int(binary.LittleEndian.Uint64(data[0x28:])) + sectionIndex(t, data, section)*sectionSize
		data[int(binary.LittleEndian.Uint64(data[header+0x18:]))+at] = v
	}
}

func sectionIndex(t *testing.T, data []byte, section string) int {
	t.Helper()
	f, err := NewFile("undamaged", bytes.Clone(data))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Sections {
		if f.Sections[i].Name == section {
			return i
		}
	}
	t.Fatalf("no section %s", section)
	return 0
}

// TestDamagedFile damages one thing at a time.
func TestDamagedFile(t *testing.T) {
	const headerOffset, headerSizeField, headerInfo = 0x18, 0x20, 0x28
	for _, test := range []struct {
		name  string
		patch patch
		want  string
		is    error
	}{
		{"other machine", put16(0x12, 62), "ELF file for X86_64", ErrNotCubin},
		{"core file", put16(0x10, 4), "of type ET_CORE", ErrNotCubin},
		{"32-bit", func(d []byte) { d[4] = 1 }, "not 64-bit", ErrNotCubin},
		{"big-endian", func(d []byte) { d[5] = 2 }, "not little-endian", ErrNotCubin},
		{"sm_35", put32(0x30, 0x230523), "sm_35: architecture not supported (sm_70, sm_75,", ErrArch},
		{"sm_110", func(d []byte) { d[7] = 0x41; binary.LittleEndian.PutUint32(d[0x30:], 0x9006e02) }, "sm_110: architecture not supported", ErrArch},
		{"no sections", put16(0x3c, 0), "section headers: 0 of 64 bytes", nil},
		{"sections cut off", put16(0x3c, 0xffff), "section headers: truncated", nil},
		{"no section names", put16(0x3e, 0xfff0), "section names: section 65520 of", nil},
		{"section behind the end", inHeader(t, ".text.calls", headerOffset, 1<<40), "truncated: 2944 bytes at 0x10000000000", nil},
		{"size that wraps", inHeader(t, ".text.calls", headerSizeField, 1<<64-16), "truncated", nil},
		{"overlapping sections", inHeader(t, ".nv.constant3", headerSizeField, 0x2c00), "sections overlap", nil},
		{"odd size of code", inHeader(t, ".text.calls", headerSizeField, 0x88), "section .text.calls: 136 bytes are no whole number", nil},
		{"huge bank", inHeader(t, ".nv.global", headerSizeField, 1<<60), "section .nv.global: 1152921504606846976 bytes", nil},
		{"huge shared memory", inHeader(t, ".nv.shared.calls", headerSizeField, 1<<40), "kernel calls: 1099511627776 bytes of static shared", nil},
		{"symbol of no section", inSection(t, ".symtab", 0x24*symbolSize+6, 0x77), "symbol 36: calls: section 119 of", nil},
		{"symbol name", inSection(t, ".symtab", 0x24*symbolSize+3, 0x77), "symbol 36: string at", nil},
		{"name of control characters", inSection(t, ".strtab", 51, '\n'), "is no name", nil},
		{"function off the grid", inSection(t, ".symtab", 0x13*symbolSize+8, 0xe4), "function $calls$_Z5twicei at 0x2e4", nil},
		{"variable behind the end", inSection(t, ".symtab", 0x0c*symbolSize+18, 0xff), "variable big: beyond the end of section .nv.global", nil},
		{"attribute format", inSection(t, ".nv.info.calls", 0, 9), "section .nv.info.calls: attribute 0x36 at 0x0 has format 9", nil},
		{"attribute cut off", inSection(t, ".nv.info", 3, 0xff), "section .nv.info: attribute 0x2f at 0x0 is cut off", nil},
		{"attribute of no symbol", inSection(t, ".nv.info", 4, 0xff), "section .nv.info: symbol 255 of", nil},
		{"relocation of no symbol", inSection(t, ".rel.nv.constant4", 12, 0xff), "section .rel.nv.constant4: symbol 255 of", nil},
		{"relocation type", inSection(t, ".rel.nv.constant4", 8, 0x4a), "relocation type 0x4a is not supported", nil},
		{"relocation behind the end", inSection(t, ".rel.nv.constant4", 1, 0xff), "section .rel.nv.constant4: 0xff60: truncated", nil},
		{"relocations for no section", inHeader(t, ".rel.nv.constant4", headerInfo, 0xffffff0000000040), "for section", nil},
		{"line unit too long", inSection(t, ".debug_line", 2, 0xff), "section .debug_line: 0x4: cut off", nil},
		{"line range 0", inSection(t, ".debug_line", 13, 0), "section .debug_line: 0xf: line range 0", nil},
		{"call graph", inSection(t, ".nv.callgraph", 8, 0xff), "section .nv.callgraph: symbol 255 of", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := read(t, "module.cubin")
			test.patch(data)
			_, err := NewFile("damaged.cubin", data)
			checkError(t, err, test.want, test.is)
		})
	}
}

// TestOtherFormats gives what people confuse with a cubin.
func TestOtherFormats(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"empty", "", "damaged.cubin: not a cubin: empty file"},
		{"text", "launches:\n  - kernel: saxpy\n", "not a cubin: text"},
		{"PTX", "//\n.version 8.0\n.target sm_70\n.visible .entry k() { ret; }\n", "not a cubin: PTX"},
		{"fatbin", "\x50\xed\x55\xba\x01\x00\x10\x00", "not a cubin: fatbin"},
		{"binary", "\x00\x01\x02\x03", "not a cubin: unknown format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewFile("damaged.cubin", []byte(test.data))
			checkError(t, err, test.want, ErrNotCubin)
		})
	}
}

func checkError(t *testing.T, err error, want string, is error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v, want %q in it", err, want)
	}
	if !strings.HasPrefix(err.Error(), "damaged.cubin: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q is not one line that begins with the file", err)
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("error %v is not %v", err, is)
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	if _, err := Open("testdata/none.cubin"); err == nil || !strings.Contains(err.Error(), "testdata/none.cubin") {
		t.Errorf("error %v", err)
	}
	if _, err := Open("testdata"); err == nil || !strings.Contains(err.Error(), "testdata") {
		t.Errorf("error %v", err)
	}
}

// TestTruncatedFile cuts files off at every length.
func TestTruncatedFile(t *testing.T) {
	for _, name := range []string{"inline.cubin", "linked.cubin"} {
		data := read(t, name)
		for n := range len(data) {
			if _, err := NewFile("cut.cubin", data[:n:n]); err == nil {
				t.Fatalf("%s: no error with %d of %d bytes", name, n, len(data))
			}
		}
	}
}

// TestCorruptedFile changes bytes at random: there is an error or a file that can be used.
func TestCorruptedFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"inline.cubin", "linked.cubin"} {
		data := read(t, name)
		for range 1000 {
			bad := bytes.Clone(data)
			for range 1 + random.IntN(8) {
				bad[random.IntN(len(bad))] = byte(random.Uint32())
			}
			use(t, bad)
		}
	}
}

// use reads a file and calls everything that looks things up in it.
func use(t testing.TB, data []byte) {
	f, err := NewFile("corrupted.cubin", data)
	useFile(t, f, err)
}

// useFile calls everything that looks things up in a file, or looks at the error with which none was read.
func useFile(t testing.TB, f *File, err error) {
	if (f == nil) == (err == nil) {
		t.Fatalf("file %v, error %v", f, err)
	}
	if err != nil {
		if strings.Contains(err.Error(), "\n") {
			t.Fatalf("error %q is not one line", err)
		}
		return
	}
	for i := range f.Sections {
		f.SectionData(i)
	}
	for _, k := range f.Kernels {
		if got, err := f.Kernel(k.Name); err != nil || got != k {
			t.Fatalf("kernel %s: %v, %v", k.Name, got, err)
		}
	}
	for _, code := range f.Codes {
		for pc := uint64(0); pc < code.Size(); pc += sass.InstSize {
			frames := code.Frames(pc)
			if len(frames) == 0 || code.FunctionAt(pc) == nil {
				t.Fatalf("%s+%#x belongs to no function", code.Name, pc)
			}
			for _, frame := range frames {
				if !printable(frame.Function) || !printable(frame.File) {
					t.Fatalf("%s+%#x: frame %+v", code.Name, pc, frame)
				}
			}
		}
	}
}

// TestUnknownInstruction makes sure that a file with a word that does not decode can be read.
func TestUnknownInstruction(t *testing.T) {
	data := read(t, "inline.cubin")
	inSection(t, ".text.chain", 0x20, 0xff)(data)
	inSection(t, ".text.chain", 0x21, 0xff)(data)
	f, err := NewFile("unknown.cubin", data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Kernel("chain")
	if err != nil {
		t.Fatal(err)
	}
	if k.Code.Err == nil || !strings.Contains(k.Code.Err.Error(), "0020") {
		t.Errorf("error %v, want one that names the address", k.Code.Err)
	}
	if in := k.Code.Insts[2]; in.Op != sass.OpNone || in.PC != 0x20 || in.Word == (sass.Word{}) {
		t.Errorf("instruction %+v", in)
	}
	if k.Code.Insts[3].Op == sass.OpNone {
		t.Error("the next instruction did not decode either")
	}
}

// TestLongDirectoryIsNotMultiplied has many files in a directory with a long name.
func TestLongDirectoryIsNotMultiplied(t *testing.T) {
	const files = 20000
	header := append([]byte{1, 1, 0xfb, 14, 1}, strings.Repeat("d", 100000)...) // fixed fields, one directory
	header = append(header, 0, 0)
	for range files {
		header = append(header, 'f', 0, 1, 0, 0)
	}
	unit := binary.LittleEndian.AppendUint16(nil, 2)
	unit = binary.LittleEndian.AppendUint32(unit, uint32(len(header)))
	unit = append(unit, header...)
	b := lineBuilder{data: append(binary.LittleEndian.AppendUint32(nil, uint32(len(unit))), unit...)}
	b.unit()
	if b.err == nil || !strings.Contains(b.err.Error(), "unlikely length") {
		t.Errorf("error %v", b.err)
	}
}

func TestOverlappingStrings(t *testing.T) {
	table := newStringTable(append(bytes.Repeat([]byte("x"), 10000), 0))
	for at := range uint64(10000) {
		if _, err := table.at(at); err != nil {
			return
		}
	}
	t.Error("reading all suffixes of a long string is allowed")
}

func FuzzNewFile(f *testing.F) {
	for _, name := range []string{"inline.cubin", "linked.cubin", "flow.cubin"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) { use(t, data) })
}

// withSection returns a copy of a cubin with other contents of a section, behind its end.
func withSection(data []byte, index int, contents []byte) []byte {
	out := append(bytes.Clone(data), contents...)
	header := out[int(binary.LittleEndian.Uint64(out[0x28:]))+index*sectionSize:]
	binary.LittleEndian.PutUint64(header[0x18:], uint64(len(data)))
	binary.LittleEndian.PutUint64(header[0x20:], uint64(len(contents)))
	return out
}

// fuzzSections fuzzes the reader of sections: a whole file with other contents of one of them, which need no luck to be
// found. No contents make the reader take memory out of proportion.
func fuzzSections(f *testing.F, file string, sections ...string) {
	data := read(f, file)
	whole, err := NewFile(file, bytes.Clone(data))
	if err != nil {
		f.Fatal(err)
	}
	for i := range whole.Sections { // those about lines, where it is not about these, take half of the time
		if name := whole.Sections[i].Name; strings.Contains(name, "debug") && !slices.Contains(sections, name) {
			data = withSection(data, i, nil)
		}
	}
	var indices []int
	for i := range whole.Sections {
		if slices.Contains(sections, whole.Sections[i].Name) {
			indices = append(indices, i)
			f.Add(uint8(len(indices)-1), whole.SectionData(i))
		}
	}
	if len(indices) != len(sections) {
		f.Fatalf("%s has %d of the sections %v", file, len(indices), sections)
	}
	f.Fuzz(func(t *testing.T, which uint8, contents []byte) {
		changed := withSection(data, indices[int(which)%len(indices)], contents)
		var file *File
		var err error
		if got := allocated(func() { file, err = NewFile("changed.cubin", changed) }); got > memoryFactor*uint64(len(changed))+memoryFloor {
			t.Errorf("%d bytes allocated for a file of %d", got, len(changed))
		}
		useFile(t, file, err)
	})
}

// FuzzLines fuzzes the line table and the names in it.
func FuzzLines(f *testing.F) {
	fuzzSections(f, "inline.cubin", ".debug_line", ".debug_str", ".rel.debug_line")
}

// FuzzInfo fuzzes the attributes of the module and of a kernel, the call graph, the symbols and relocations.
func FuzzInfo(f *testing.F) {
	fuzzSections(f, "module.cubin", ".nv.info", ".nv.info.calls", ".nv.callgraph", ".symtab", ".rel.nv.constant4")
}

// A table of kernels, as the device runtime has it, loads: its entries are addresses.
func TestRelocationOfKernel(t *testing.T) {
	plain, err := NewFile("plain", read(t, "module.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	data := read(t, "module.cubin")
	inSection(t, ".rel.nv.constant4", 8, relKernel64)(data)
	f, err := NewFile("table", data)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Relocs) != len(plain.Relocs) || f.Relocs[0] != plain.Relocs[0] {
		t.Errorf("%+v, want %+v", f.Relocs, plain.Relocs)
	}
}
