package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gpa/cubin/sass"
)

// ErrNotCubin says that data is not a linked cubin, by its first bytes.
var ErrNotCubin = errors.New("not a cubin")

// ErrArch says that a cubin is for an architecture that is not known.
var ErrArch = errors.New("architecture not supported")

// ErrNoCode says that a cubin holds data only.
var ErrNoCode = errors.New("no code")

// What CUDA adds to ELF. The figures are those that cuobjdump prints and that the compilers of CUDA 12 write.
const (
	osabiCUDA       = 0x33       // e_ident[EI_OSABI] up to CUDA 12
	shtCUDAGlobal   = 0x70000007 // .nv.global without contents
	shtCUDAShared   = 0x7000000a // .nv.shared without contents
	stoCUDAEntry    = 0x10       // st_other of a kernel
	magicFatbin     = 0xba55ed50
	magicFatbinWrap = 0x466243b1
)

// Sizes of the ELF64 structures in the file.
const (
	headerSize  = 64
	sectionSize = 64
	symbolSize  = 24
)

// maxOffset is more than the largest section has; a GPU's memory begins behind it.
const maxOffset = 1 << 32

// A reader takes a file apart, step by step; what a step leaves here the following ones use.
type reader struct {
	file    *File
	header  elf.Header64
	symbols []symbol      // by symbol index
	codes   map[int]*Code // by section index
	byName  map[string]int
	infos   map[int]int      // section index of code → that of its attributes
	stack   map[int]stackUse // by symbol index
	loaded  map[int]uint64   // section index → address, of a cubin that was taken from a GPU's memory
	globals map[int]uint64   // section index of .nv.global.init and .nv.global → offset in File.Global

	frameSums    []int // by code: bytes of the stack frames of its device functions
	sharedFrames int   // the same of all sections of device functions only
}

// A symbol is an entry of the symbol table.
type symbol struct {
	name    string
	kind    elf.SymType
	bind    elf.SymBind
	entry   bool // of a kernel
	section int  // 0 where undefined or absolute
	value   uint64
	size    uint64
}

// readHeader reads the ELF header and finds out the architecture.
func (r *reader) readHeader() error {
	data := r.file.Raw
	if err := identify(data); err != nil {
		return err
	}
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, &r.header); err != nil {
		return fmt.Errorf("ELF header: %w", err)
	}
	h := &r.header
	if m := elf.Machine(h.Machine); m != elf.EM_CUDA {
		return fmt.Errorf("%w: ELF file for %s", ErrNotCubin, strings.TrimPrefix(m.String(), "EM_"))
	}
	r.file.Relocatable = elf.Type(h.Type) == elf.ET_REL
	if elf.Type(h.Type) != elf.ET_EXEC && !r.file.Relocatable {
		return fmt.Errorf("%w: ELF file of type %s", ErrNotCubin, elf.Type(h.Type))
	}
	// CUDA 13 moved the architecture one byte up and changed the ABI identification.
	sm := h.Flags & 0xff
	if h.Ident[elf.EI_OSABI] != osabiCUDA {
		sm = h.Flags >> 8 & 0xff
	}
	r.file.Arch = sass.Arch(sm)
	if !r.file.Arch.Known() {
		return fmt.Errorf("sm_%d: %w (%s are)", sm, ErrArch, knownArchs())
	}
	return nil
}

// knownArchs lists the architectures whose code is read.
func knownArchs() string {
	var names []string
	for _, a := range sass.Archs() {
		names = append(names, fmt.Sprintf("sm_%d", a))
	}
	return strings.Join(names, ", ")
}

// identify says what data is where it is no 64-bit little-endian ELF file.
func identify(data []byte) error {
	is := func(what string) error { return fmt.Errorf("%w: %s", ErrNotCubin, what) }
	switch {
	case len(data) == 0:
		return is("empty file")
	case bytes.HasPrefix(data, []byte(elf.ELFMAG)):
		return identifyELF(data)
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == magicFatbin,
		len(data) >= 4 && binary.LittleEndian.Uint32(data) == magicFatbinWrap:
		return is("fatbin, whose cubins are to be read one by one")
	case isText(data) && bytes.Contains(data, []byte(".visible")) && bytes.Contains(data, []byte(".target")):
		return is("PTX, assemble it first (ptxas)")
	case isText(data):
		return is("text")
	}
	return is("unknown format")
}

// identifyELF checks the identification bytes of an ELF file.
func identifyELF(data []byte) error {
	switch {
	case len(data) < headerSize:
		return fmt.Errorf("truncated: %d bytes, an ELF header has %d", len(data), headerSize)
	case elf.Class(data[elf.EI_CLASS]) != elf.ELFCLASS64:
		return fmt.Errorf("%w: ELF file that is not 64-bit", ErrNotCubin)
	case elf.Data(data[elf.EI_DATA]) != elf.ELFDATA2LSB:
		return fmt.Errorf("%w: ELF file that is not little-endian", ErrNotCubin)
	}
	return nil
}

// isText reports whether the first bytes look like text.
func isText(data []byte) bool {
	for _, b := range data[:min(len(data), 512)] {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return false
		}
	}
	return true
}

// readSections reads the section headers. All sections together may not be larger than the file, so that what is made
// of them stays in proportion to it.
func (r *reader) readSections() error {
	h, data := &r.header, r.file.Raw
	if h.Shentsize != sectionSize || h.Shnum == 0 {
		return fmt.Errorf("section headers: %d of %d bytes", h.Shnum, h.Shentsize)
	}
	if _, err := slice(data, h.Phoff, uint64(h.Phnum)*uint64(h.Phentsize)); err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	table, err := slice(data, h.Shoff, uint64(h.Shnum)*sectionSize)
	if err != nil {
		return fmt.Errorf("section headers: %w", err)
	}
	raw := make([]elf.Section64, h.Shnum)
	if err := binary.Read(bytes.NewReader(table), binary.LittleEndian, raw); err != nil {
		return fmt.Errorf("section headers: %w", err)
	}
	total, seen := uint64(0), make(map[[2]uint64]bool) // compilers for sm_100 and later keep a text twice, in sections of the same place
	r.file.Sections = make([]elf.SectionHeader, len(raw))
	for i := range raw {
		s := sectionHeader(&raw[i])
		if _, err := slice(data, s.Offset, s.FileSize); err != nil {
			return fmt.Errorf("section %d: %w", i, err)
		}
		if place := [2]uint64{s.Offset, s.FileSize}; !seen[place] {
			seen[place] = true
			total += s.FileSize // cannot overflow: each is below the file's size, and there are less than 65536
		}
		r.file.Sections[i] = s
	}
	if total > uint64(len(data)) {
		return fmt.Errorf("sections overlap: %d bytes in a file of %d", total, len(data))
	}
	return r.nameSections(raw)
}

// sectionHeader translates a section header. FileSize is 0 for a section without contents in the file.
func sectionHeader(s *elf.Section64) elf.SectionHeader {
	h := elf.SectionHeader{
		Type: elf.SectionType(s.Type), Flags: elf.SectionFlag(s.Flags), Addr: s.Addr, Offset: s.Off,
		Size: s.Size, Link: s.Link, Info: s.Info, Addralign: s.Addralign, Entsize: s.Entsize, FileSize: s.Size,
	}
	switch s.Type {
	case uint32(elf.SHT_NOBITS), uint32(elf.SHT_NULL), shtCUDAGlobal, shtCUDAShared:
		h.Offset, h.FileSize = 0, 0
	}
	return h
}

// nameSections gives the sections their names and indexes them.
func (r *reader) nameSections(raw []elf.Section64) error {
	names, err := r.stringTable(int(r.header.Shstrndx))
	if err != nil {
		return fmt.Errorf("section names: %w", err)
	}
	r.byName, r.infos = make(map[string]int, len(raw)), make(map[int]int)
	for i := range raw {
		name, err := names.at(uint64(raw[i].Name))
		if err != nil {
			return fmt.Errorf("name of section %d: %w", i, err)
		}
		r.file.Sections[i].Name = name
		r.byName[name] = i
		if strings.HasPrefix(name, prefixInfo) {
			r.infos[int(raw[i].Info)] = i
		}
	}
	return nil
}

// infoOf returns the attributes of a section of code, nil where it has none. Names do not tell: functions of one name that different
// source files keep to themselves lie in sections of one name.
func (r *reader) infoOf(code int) []byte {
	if i, ok := r.infos[code]; ok {
		return r.file.SectionData(i)
	}
	return nil
}

// section returns the contents of the section of that name, nil where there is none.
func (r *reader) section(name string) []byte {
	if i, ok := r.byName[name]; ok {
		return r.file.SectionData(i)
	}
	return nil
}

// readSymbols reads the symbol table.
func (r *reader) readSymbols() error {
	index, ok := r.byName[".symtab"]
	if !ok {
		return errors.New("no symbol table")
	}
	names, err := r.stringTable(int(r.file.Sections[index].Link))
	if err != nil {
		return fmt.Errorf("symbol names: %w", err)
	}
	data := r.file.SectionData(index)
	r.symbols = make([]symbol, len(data)/symbolSize)
	for i := range r.symbols {
		if r.symbols[i], err = r.readSymbol(data[i*symbolSize:], names); err != nil {
			return fmt.Errorf("symbol %d: %w", i, err)
		}
	}
	return nil
}

// rebaseSymbols makes offsets of the function symbols of a cubin that was taken from a GPU's memory, as reports of Nsight Compute
// hold: those of kernels, and of some versions those of all functions, are addresses there. Where the symbol of the section is none,
// the section begins with the function at the lowest. Variables lie apart from each other in memory; which of their bytes is which
// of the section's is not known, and they count as undefined.
func (r *reader) rebaseSymbols() error {
	r.loaded = make(map[int]uint64)
	for i := range r.symbols {
		s := &r.symbols[i]
		base, found := r.loaded[s.section]
		switch {
		case s.section == 0:
		case s.kind == elf.STT_SECTION && s.value != 0:
			r.loaded[s.section], s.value = s.value, 0
		case s.kind == elf.STT_FUNC && r.isAddress(s) && (!found || s.value < base):
			r.loaded[s.section] = s.value
		case s.kind == elf.STT_OBJECT && r.isAddress(s):
			s.section = 0
		}
	}
	for i := range r.symbols {
		if s := &r.symbols[i]; s.kind == elf.STT_FUNC && r.isAddress(s) {
			s.value -= r.loaded[s.section]
		}
	}
	return nil
}

// isAddress reports whether the value of a symbol cannot be an offset in its section.
func (r *reader) isAddress(s *symbol) bool {
	return s.section != 0 && s.value >= max(maxOffset, r.file.Sections[s.section].Size)
}

// readSymbol reads one entry of the symbol table, as elf.Sym64 describes it.
func (r *reader) readSymbol(entry []byte, names *stringTable) (symbol, error) {
	le := binary.LittleEndian
	name, err := names.at(uint64(le.Uint32(entry)))
	if err != nil {
		return symbol{}, err
	}
	s := symbol{
		name: name, kind: elf.ST_TYPE(entry[4]), bind: elf.ST_BIND(entry[4]), entry: entry[5]&stoCUDAEntry != 0,
		section: int(le.Uint16(entry[6:])), value: le.Uint64(entry[8:]), size: le.Uint64(entry[16:]),
	}
	if s.section >= int(elf.SHN_LORESERVE) {
		s.section = 0
		return s, nil
	}
	if s.section >= len(r.file.Sections) {
		return symbol{}, fmt.Errorf("%s: section %d of %d", name, s.section, len(r.file.Sections))
	}
	return s, nil
}

// symbolAt returns the symbol of an index that the file names.
func (r *reader) symbolAt(index uint32) (*symbol, error) {
	if uint64(index) >= uint64(len(r.symbols)) {
		return nil, fmt.Errorf("symbol %d of %d", index, len(r.symbols))
	}
	return &r.symbols[index], nil
}

// slice returns the bytes of data from offset on, or an error where they are not all there.
func slice(data []byte, offset, size uint64) ([]byte, error) {
	length := uint64(len(data))
	if offset > length || size > length-offset {
		return nil, fmt.Errorf("truncated: %d bytes at 0x%x, the file ends at 0x%x", size, offset, length)
	}
	return data[offset : offset+size], nil
}

// A stringTable is a section of strings that end with a zero byte. Names that overlap in a way no compiler writes are
// refused: reading them all could take the square of the section's size.
type stringTable struct {
	data   string
	budget int
}

func newStringTable(data []byte) *stringTable {
	return &stringTable{data: string(data), budget: 8*len(data) + 4096}
}

func (r *reader) stringTable(index int) (*stringTable, error) {
	if index <= 0 || index >= len(r.file.Sections) {
		return nil, fmt.Errorf("section %d of %d", index, len(r.file.Sections))
	}
	return newStringTable(r.file.SectionData(index)), nil
}

// at returns the string at an offset.
func (t *stringTable) at(offset uint64) (string, error) {
	if offset >= uint64(len(t.data)) {
		if offset == 0 {
			return "", nil
		}
		return "", fmt.Errorf("string at 0x%x of 0x%x", offset, len(t.data))
	}
	rest := t.data[offset:]
	end := strings.IndexByte(rest, 0)
	if end < 0 {
		return "", fmt.Errorf("string at 0x%x has no end", offset)
	}
	if t.budget -= end; t.budget < 0 {
		return "", errors.New("strings overlap")
	}
	if !printable(rest[:end]) {
		return "", fmt.Errorf("string at 0x%x is no name", offset)
	}
	return rest[:end], nil
}

// printable reports whether a name can stand in a line of text.
func printable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}
