package cubin

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"gpa/cubin/sass"
)

// RelocKind is how a relocation changes the place it names.
type RelocKind uint8

// The relocations that a loader meets in linked cubins.
const (
	Abs64   RelocKind = iota // 64-bit address
	Abs32Lo                  // low 32 bits into an instruction's immediate (bits 32 to 63)
	Abs32Hi                  // high 32 bits into an instruction's immediate
	AbsCall                  // absolute code address of a CALL.ABS or of the like (47 bits from bit 34 on)
)

// A Reloc is a place in code, data or a constant bank that needs an address known only when the module is loaded: that
// of Target plus Addend.
type Reloc struct {
	Kind    RelocKind
	Section string // section name of the place, as in .nv.constant4 or .text.k
	Code    *Code  // of a place in code, else nil
	Offset  uint64 // of the place in its section; of a place in code, of the instruction
	Symbol  string
	Target  Target // what the symbol is
	Addend  int64
}

// A Target is what a relocation points to: a code offset, a variable or an external function. Offset is in Code, in
// File.Global or in constant bank 3.
type Target struct {
	Code     *Code  // of a function
	Global   bool   // an offset in File.Global
	Constant bool   // an offset in constant bank 3
	Extern   string // the name of an undefined function
	Offset   uint64
}

// Relocation types, by the names that cuobjdump prints.
const (
	relNone          = 0x00
	rel64            = 0x02 // R_CUDA_64
	relG64           = 0x04 // R_CUDA_G64: the same, of a generic address
	relAbs32Lo       = 0x38 // R_CUDA_ABS32_LO_32
	relAbs32Hi       = 0x39 // R_CUDA_ABS32_HI_32
	relAbs47         = 0x3a // R_CUDA_ABS47_34
	relAbs55         = 0x4b // R_CUDA_ABS55_16_34: the same on sm_90, whose calls have more bits
	relUnified32Lo   = 0x70 // R_CUDA_UNIFIED32_LO_32: as R_CUDA_ABS32_LO_32, of an address in the unified space
	relUnified32Hi   = 0x71 // R_CUDA_UNIFIED32_HI_32
	relAbs56         = 0x72 // R_CUDA_ABS56_16_34: as R_CUDA_ABS55_16_34
	relKernel64      = 0x23 // what the device runtime knows a kernel by that it launches; here the address of its code
	relUnusedClear64 = 0x49 // R_CUDA_UNUSED_CLEAR64: nothing to do
)

// Sizes of the entries of relocation sections.
const (
	relSize  = 16
	relaSize = 24
)

// A rawReloc is an entry of a relocation section.
type rawReloc struct {
	offset    uint64
	kind      uint32
	symbol    *symbol
	addend    int64
	hasAddend bool // otherwise the place holds it
}

// relocations reads the entries of relocation section index.
func (r *reader) relocations(index int) ([]rawReloc, error) {
	s, data := &r.file.Sections[index], r.file.SectionData(index)
	size := relSize
	if s.Type == elf.SHT_RELA {
		size = relaSize
	}
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%d bytes are no whole number of relocations", len(data))
	}
	list := make([]rawReloc, len(data)/size)
	for i := range list {
		entry := data[i*size:]
		info := binary.LittleEndian.Uint64(entry[8:])
		sym, err := r.symbolAt(elf.R_SYM64(info))
		if err != nil {
			return nil, err
		}
		list[i] = rawReloc{offset: binary.LittleEndian.Uint64(entry), kind: elf.R_TYPE64(info), symbol: sym}
		if size == relaSize {
			list[i].addend, list[i].hasAddend = int64(binary.LittleEndian.Uint64(entry[16:])), true
		}
	}
	return list, nil
}

// readRelocs reads the relocations of code, constant banks and initialized memory. Those of debug sections are the
// line table's.
func (r *reader) readRelocs() error {
	for i := range r.file.Sections {
		s := &r.file.Sections[i]
		if s.Type != elf.SHT_REL && s.Type != elf.SHT_RELA {
			continue
		}
		if s.Info == 0 || uint64(s.Info) >= uint64(len(r.file.Sections)) {
			return fmt.Errorf("section %s: for section %d of %d", s.Name, s.Info, len(r.file.Sections))
		}
		if !loaded(r.file.Sections[s.Info].Name) {
			continue
		}
		if err := r.readRelocSection(i, int(s.Info)); err != nil {
			return fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return nil
}

// loaded reports whether a section is part of what a launch sees.
func loaded(section string) bool {
	return strings.HasPrefix(section, prefixText) || strings.HasPrefix(section, ".nv.constant") || section == sectionGlobalInit
}

func (r *reader) readRelocSection(index, section int) error {
	list, err := r.relocations(index)
	if err != nil {
		return err
	}
	for i := range list {
		if k := list[i].kind; k == relNone || k == relUnusedClear64 {
			continue
		}
		reloc, err := r.reloc(&list[i], section)
		if err != nil && r.file.Relocatable {
			continue // for the linker: fields of constant banks, common symbols
		}
		if err != nil {
			return fmt.Errorf("0x%x: %w", list[i].offset, err)
		}
		r.file.Relocs = append(r.file.Relocs, reloc)
	}
	return nil
}

// reloc translates one relocation and checks that its place is there.
func (r *reader) reloc(raw *rawReloc, section int) (Reloc, error) {
	reloc := Reloc{
		Section: r.file.Sections[section].Name, Code: r.codes[section],
		Offset: raw.offset, Symbol: raw.symbol.name, Addend: raw.addend,
	}
	var err error
	if reloc.Target, err = r.target(raw.symbol); err != nil {
		return Reloc{}, err
	}
	place := r.file.SectionData(section)
	switch raw.kind {
	case rel64, relG64, relKernel64:
		reloc.Kind = Abs64
		word, err := slice(place, raw.offset, 8)
		if err != nil {
			return Reloc{}, err
		}
		if !raw.hasAddend {
			reloc.Addend = int64(binary.LittleEndian.Uint64(word))
		}
		return reloc, nil
	case relAbs32Lo, relUnified32Lo:
		reloc.Kind = Abs32Lo
	case relAbs32Hi, relUnified32Hi:
		reloc.Kind = Abs32Hi
	case relAbs47, relAbs55, relAbs56:
		reloc.Kind = AbsCall
	default:
		return Reloc{}, fmt.Errorf("relocation type 0x%02x is not supported", raw.kind)
	}
	if reloc.Code == nil {
		return Reloc{}, fmt.Errorf("relocation type 0x%02x outside of code", raw.kind)
	}
	if _, ok := reloc.Code.InstIndex(raw.offset); !ok {
		return Reloc{}, fmt.Errorf("no instruction of 0x%x", len(reloc.Code.Insts)*sass.InstSize)
	}
	return reloc, nil
}

// target finds out what a symbol is.
func (r *reader) target(s *symbol) (Target, error) {
	if s.section == 0 {
		if s.name == "" {
			return Target{}, errors.New("relocation without a symbol")
		}
		return Target{Extern: s.name}, nil
	}
	if code := r.codes[s.section]; code != nil {
		return Target{Code: code, Offset: s.value}, nil
	}
	if base, ok := r.globals[s.section]; ok {
		return Target{Global: true, Offset: base + s.value}, nil
	}
	name := r.file.Sections[s.section].Name
	if name == sectionConstant3 {
		return Target{Constant: true, Offset: s.value}, nil
	}
	return Target{}, fmt.Errorf("%s in section %s has no address at load time", s.name, name)
}
