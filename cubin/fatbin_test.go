package cubin

import (
	"bytes"
	"debug/elf"
	"errors"
	"strings"
	"testing"

	"gpa/cubin/fatbintest"
	"gpa/cubin/sass"
)

// hostFile makes the ELF file of a host with a fatbin in it.
func hostFile(t testing.TB, fat []byte) []byte {
	t.Helper()
	im := Image{Symbols: make([]ImageSymbol, 1)}
	copy(im.Header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	im.Header.Type, im.Header.Machine, im.Header.Version, im.Header.Ehsize = uint16(elf.ET_EXEC), uint16(elf.EM_X86_64), 1, 64
	im.Header.Shstrndx = 1
	im.Sections = []*ImageSection{
		{}, {Name: ".shstrtab", Type: uint32(elf.SHT_STRTAB), Align: 1}, {Name: ".symtab", Type: uint32(elf.SHT_SYMTAB), Link: 1, Align: 8, Entry: 24},
		{Name: ".nv_fatbin", Type: uint32(elf.SHT_PROGBITS), Align: 8, Data: fat},
	}
	data, err := im.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// testFatbin holds one cubin four ways, and PTX.
func testFatbin(t testing.TB) (fat, code []byte) {
	code = read(t, "flow.cubin")
	return fatbinOf(t, code), code
}

// fatbinOf holds data as four cubins, and PTX.
func fatbinOf(t testing.TB, code []byte) []byte {
	return fatbintest.Fatbin(
		fatbintest.Entry(uint16(PTXEntry), 70, "flow.ptx", []byte(".version 8.0\n.target sm_70\n"), 0, 0),
		fatbintest.Entry(uint16(CubinEntry), 70, "flow.cu", code, 0, 0),
		fatbintest.Entry(uint16(CubinEntry), 70, "", fatbintest.PackLZ4(code), flagLZ4, len(code)),
		fatbintest.Entry(uint16(CubinEntry), 80, "", fatbintest.PackZstd(t, code), flagZstd, len(code)),
	)
}

// TestEntries reads cubins out of all containers, compressed and not.
func TestEntries(t *testing.T) {
	fat, code := testFatbin(t)
	for _, test := range []struct {
		name  string
		data  []byte
		where string
	}{
		{"fatbin", fat, "fatbin"},
		{"two fatbins", append(append(bytes.Clone(fat), make([]byte, 8)...), fat...), "fatbin"},
		{"executable", hostFile(t, fat), ".nv_fatbin"},
		{"archive", fatbintest.Archive(hostFile(t, fat)), "host.o: .nv_fatbin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := Entries(test.data)
			if err != nil || len(list) < 4 {
				t.Fatalf("%d entries, error %v", len(list), err)
			}
			for i, want := range []Entry{
				{Kind: PTXEntry, SM: 70, Name: "flow.ptx"}, {Kind: CubinEntry, SM: 70, Name: "flow.cu"},
				{Kind: CubinEntry, SM: 70, Compression: "LZ4"}, {Kind: CubinEntry, SM: 80, Compression: "zstd"},
			} {
				e := &list[i]
				if e.Kind != want.Kind || e.SM != want.SM || e.Name != want.Name || e.Compression != want.Compression || e.Where != test.where {
					t.Errorf("entry %d: %s sm_%d %q %q in %s", i, e.Kind, e.SM, e.Name, e.Compression, e.Where)
				}
				got, err := e.Read()
				if err != nil || want.Kind == CubinEntry && !bytes.Equal(got[:len(code)], code) {
					t.Errorf("entry %d: %d bytes of %d, error %v", i, len(got), len(code), err)
				}
			}
		})
	}
}

// TestPick chooses by architecture.
func TestPick(t *testing.T) {
	fat, code := testFatbin(t)
	label, got, err := Pick("a.out", hostFile(t, fat), sass.SM80)
	if err != nil || label != "a.out#4" || !bytes.Equal(got, code) {
		t.Errorf("%s: %d bytes, error %v", label, len(got), err)
	}
	for _, test := range []struct {
		arch sass.Arch
		want string
	}{{sass.SM70, "several cubins"}, {0, "several cubins"}, {sass.SM90, "it has PTX for sm_70, cubin for sm_70, cubin for sm_80"}} {
		if _, _, err := Pick("a.out", fat, test.arch); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("sm_%d: error %v, want %q in it", test.arch, err, test.want)
		}
	}
	if _, _, err := Pick("a.out", hostFile(t, nil), 0); !errors.Is(err, ErrNotCubin) {
		t.Errorf("a file without device code: %v", err)
	}
}

// TestDamagedEntries damages fatbins.
func TestDamagedEntries(t *testing.T) {
	code := read(t, "flow.cubin")
	lz4 := fatbintest.PackLZ4(code)
	for _, test := range []struct {
		name string
		data []byte
		want string
	}{
		{"claims too much", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", lz4, flagLZ4, 1<<40)), "are unlikely"},
		{"claims too little", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", lz4, flagLZ4, len(code)-9)), "LZ4: damaged"},
		{"cut off", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", lz4[:len(lz4)/2], flagLZ4, len(code))), "LZ4: "},
		{"no zstd", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", lz4, flagZstd, len(code))), "zstd: "},
		{"zstd of another size", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", fatbintest.PackZstd(t, code), flagZstd, len(code)-1)), "zstd: "},
		{"entry behind the end", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", code, 0, 0)[:entryHeader+8]), "is cut off"},
		{"short header", fatbintest.Fatbin(make([]byte, 8)), "the header of an entry is cut off"},
		{"fatbin behind the end", fatbintest.Fatbin(fatbintest.Entry(uint16(CubinEntry), 70, "", code, 0, 0))[:200], "fatbin of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := Entries(test.data)
			for i := range list {
				if _, problem := list[i].Read(); problem != nil {
					err = problem
				}
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

func FuzzEntries(f *testing.F) {
	fat := fatbinOf(f, read(f, "flow.cubin")[:256]) // what the entries hold does not matter
	f.Add(fat)
	f.Add(hostFile(f, fat))
	f.Add(fatbintest.Archive(hostFile(f, fat)))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _ := Entries(data)
		for i := range list {
			if got, err := list[i].Read(); err == nil && len(got) > maxRatio*len(data) {
				t.Errorf("%d bytes from %d", len(got), len(data))
			}
		}
	})
}
