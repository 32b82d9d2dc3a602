package asm

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// What the ELF files of CUDA 12 have that others do not, by cuobjdump's names.
const (
	osabiCUDA  = 0x33
	abiVersion = 7
	elfVersion = 0x81

	// Of sm_100 and later.
	osabiLater  = 0x41
	abiLater    = 8
	flagsLater  = 0x09000002
	shtCUDAInfo = 0x70000000
	stoEntry    = 0x10 // st_other of a kernel

	relAbs32Lo    = 0x38 // R_CUDA_ABS32_LO_32
	relAbs32Hi    = 0x39 // R_CUDA_ABS32_HI_32
	relAbs47      = 0x3a // R_CUDA_ABS47_34
	relAbs55Split = 0x4b // R_CUDA_ABS55_16_34, of sm_90
	rel64         = 0x02 // R_CUDA_64

	barrierShift  = 20 // of the number of named barriers in sh_flags of .text
	registerShift = 24 // of the number of registers in sh_info of .text
	textAlign     = 128
)

// Attributes of .nv.info, by cuobjdump's names.
const (
	attrMaxThreads = 0x05 // EIATTR_MAX_THREADS
	attrParamCBank = 0x0a // EIATTR_PARAM_CBANK
	attrExterns    = 0x0f // EIATTR_EXTERNS
	attrReqThreads = 0x10 // EIATTR_REQNTID
	attrFrameSize  = 0x11 // EIATTR_FRAME_SIZE
	attrMinStack   = 0x12 // EIATTR_MIN_STACK_SIZE
	attrParam      = 0x17 // EIATTR_KPARAM_INFO
	attrParamSize  = 0x19 // EIATTR_CBANK_PARAM_SIZE
	attrMaxReg     = 0x1b // EIATTR_MAXREG_COUNT
	attrExits      = 0x1c // EIATTR_EXIT_INSTR_OFFSETS
	attrRegCount   = 0x2f // EIATTR_REGCOUNT
	attrAPIVersion = 0x37 // EIATTR_CUDA_API_VERSION
	attrSyscalls   = 0x46 // EIATTR_SYSCALL_OFFSETS
)

// paramBase is where the parameters of a kernel begin in constant bank 0, as compilers of CUDA 12 lay it out.
func paramBase(arch sass.Arch) int {
	switch {
	case arch >= sass.SM100:
		return 0x380
	case arch >= sass.SM90:
		return 0x210
	}
	return 0x160
}

// relAbsCall is the relocation of the target of a CALL.ABS.
func relAbsCall(arch sass.Arch) uint32 {
	if arch >= sass.SM90 {
		return relAbs55Split
	}
	return relAbs47
}

// A builder makes the image of a cubin.
type builder struct {
	a       *assembler
	image   cubin.Image
	symbols map[string]int // name → index
	texts   []int          // section index of each code
	insts   [][]sass.Inst
	symtab  int
}

// build makes the file of the kernels and variables.
func (a *assembler) build() ([]byte, error) {
	b := builder{a: a, symbols: make(map[string]int)}
	for _, c := range a.codes {
		insts, err := a.assembleCode(c)
		if err != nil {
			return nil, err
		}
		if len(insts) == 0 {
			return nil, a.errorAt(a.current, "%s has no instructions", c.name)
		}
		if insts, err = a.pad(insts); err != nil {
			return nil, err
		}
		b.insts = append(b.insts, insts)
	}
	b.header()
	b.section(&cubin.ImageSection{})
	names := b.section(&cubin.ImageSection{Name: ".shstrtab", Type: uint32(elf.SHT_STRTAB), Align: 1})
	strings := b.section(&cubin.ImageSection{Name: ".strtab", Type: uint32(elf.SHT_STRTAB), Align: 1})
	b.symtab = b.section(&cubin.ImageSection{Name: ".symtab", Type: uint32(elf.SHT_SYMTAB), Link: uint32(strings), Align: 8, Entry: 24})
	b.image.Header.Shstrndx = uint16(names)
	b.planSections()
	b.addSymbols()
	b.addInfo()
	b.addLines()
	b.addRelocations()
	b.addCode()
	return b.image.Bytes()
}

// pad fills the section up with NOPs behind a branch to itself, as compilers do: nothing runs past the end.
func (a *assembler) pad(insts []sass.Inst) ([]sass.Inst, error) {
	for first := true; first || len(insts)*sass.InstSize%textAlign != 0; first = false {
		pc := uint64(len(insts)) * sass.InstSize
		text, control := "NOP", sass.Control{Yield: true, WriteBarrier: -1, ReadBarrier: -1}
		if first {
			text = fmt.Sprintf("BRA 0x%x", pc)
		}
		in, err := sass.Parse(a.arch, pc, text, control)
		if err != nil {
			return nil, fmt.Errorf("%s: padding: %w", a.file, err)
		}
		insts = append(insts, in)
	}
	return insts, nil
}

// header fills in what identifies the file.
func (b *builder) header() {
	h := &b.image.Header
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	h.Ident[elf.EI_OSABI], h.Ident[elf.EI_ABIVERSION] = osabiCUDA, abiVersion
	h.Type, h.Machine, h.Version, h.Ehsize = uint16(elf.ET_EXEC), uint16(elf.EM_CUDA), elfVersion, 64
	sm := uint32(b.a.arch)
	h.Flags = sm<<16 | 0x500 | sm // virtual architecture, 64-bit addresses and unified textures, architecture
	if b.a.arch >= sass.SM100 {
		h.Ident[elf.EI_OSABI], h.Ident[elf.EI_ABIVERSION], h.Version = osabiLater, abiLater, uint32(elf.EV_CURRENT)
		h.Flags = flagsLater | sm<<8
	}
}

// section adds a section and returns its index.
func (b *builder) section(s *cubin.ImageSection) int {
	b.image.Sections = append(b.image.Sections, s)
	return len(b.image.Sections) - 1
}

const (
	allocated   = uint64(elf.SHF_ALLOC)
	withInfo    = uint64(elf.SHF_INFO_LINK)
	executable  = allocated | uint64(elf.SHF_EXECINSTR)
	writable    = allocated | uint64(elf.SHF_WRITE)
	typeBits    = uint32(elf.SHT_PROGBITS)
	typeNoBits  = uint32(elf.SHT_NOBITS)
	globalBind  = uint8(elf.STB_GLOBAL) << 4
	functionSym = uint8(elf.STT_FUNC)
	objectSym   = uint8(elf.STT_OBJECT)
)

// planSections adds all sections, most of them without contents yet, in the order of NVIDIA's linker.
func (b *builder) planSections() {
	link := uint32(b.symtab)
	b.section(&cubin.ImageSection{Name: ".nv.info", Type: shtCUDAInfo, Link: link, Align: 4})
	for _, c := range b.a.codes {
		b.section(&cubin.ImageSection{Name: ".nv.info." + c.name, Type: shtCUDAInfo, Flags: withInfo, Link: link, Align: 4})
	}
	if b.hasLines() {
		b.section(&cubin.ImageSection{Name: ".debug_line", Type: typeBits, Align: 1})
		b.section(&cubin.ImageSection{Name: ".rel.debug_line", Type: uint32(elf.SHT_REL), Flags: withInfo, Link: link, Align: 8, Entry: 16})
	}
	for _, c := range b.a.codes {
		if len(c.relocs) > 0 {
			b.section(&cubin.ImageSection{Name: ".rela.text." + c.name, Type: uint32(elf.SHT_RELA), Flags: withInfo, Link: link, Align: 8, Entry: 24})
		}
	}
	first := len(b.image.Sections)
	if b.hasData(true) {
		b.section(&cubin.ImageSection{Name: ".nv.constant3", Type: typeBits, Flags: allocated, Align: 8})
	}
	for _, c := range b.a.codes {
		if c.kernel {
			b.section(&cubin.ImageSection{Name: ".nv.constant0." + c.name, Type: typeBits, Flags: allocated | withInfo, Align: 4,
				Data: make([]byte, paramBase(b.a.arch)+c.paramSize)})
		}
	}
	for _, c := range b.a.codes {
		b.texts = append(b.texts, b.section(&cubin.ImageSection{Name: ".text." + c.name, Type: typeBits, Link: link, Align: textAlign}))
	}
	last := len(b.image.Sections) - 1
	b.planWritable()
	b.planSegments(first, last)
	for i, c := range b.a.codes {
		for _, prefix := range []string{".nv.info.", ".rela.text.", ".nv.constant0.", ".nv.shared."} {
			if s := b.image.Section(prefix + c.name); s != nil {
				s.Info = uint32(b.texts[i])
			}
		}
	}
}

// planWritable adds the sections of variables and shared memory.
func (b *builder) planWritable() {
	if b.hasData(false) {
		b.section(&cubin.ImageSection{Name: ".nv.global.init", Type: typeBits, Flags: writable, Align: 8})
	}
	for _, c := range b.a.codes {
		if c.kernel && c.shared > 0 {
			b.section(&cubin.ImageSection{Name: ".nv.shared." + c.name, Type: typeNoBits, Flags: writable | withInfo, Align: 16, Size: uint64(c.shared)})
		}
	}
	if b.hasZeros() {
		b.section(&cubin.ImageSection{Name: ".nv.global", Type: typeNoBits, Flags: writable, Align: 8})
	}
}

// planSegments makes the program headers: of themselves, of what is only read, of the variables.
func (b *builder) planSegments(first, last int) {
	const read, exec, write = elf.PF_R, elf.PF_X, elf.PF_W
	b.image.Segments = []cubin.ImageSegment{
		{Type: elf.PT_PHDR, Flags: read | exec, Align: 8},
		{Type: elf.PT_LOAD, Flags: read | exec, Align: 8, First: first, Last: last},
	}
	if end := len(b.image.Sections) - 1; end > last {
		b.image.Segments = append(b.image.Segments, cubin.ImageSegment{
			Type: elf.PT_LOAD, Flags: read | write, Align: 8, First: last + 1, Last: end,
		})
	}
	b.image.Segments = append(b.image.Segments, cubin.ImageSegment{Type: elf.PT_LOAD, Flags: read | exec, Align: 8})
}

func (b *builder) hasLines() bool {
	for _, c := range b.a.codes {
		if len(c.marks) > 0 {
			return true
		}
	}
	return false
}

// hasData reports whether there are constants, or initialized variables.
func (b *builder) hasData(constant bool) bool {
	for _, d := range b.a.datas {
		if d.constant == constant && (constant || len(d.bytes) > 0) {
			return true
		}
	}
	return false
}

func (b *builder) hasZeros() bool {
	for _, d := range b.a.datas {
		if !d.constant && len(d.bytes) == 0 {
			return true
		}
	}
	return false
}

// symbol adds a symbol and returns its index.
func (b *builder) symbol(s cubin.ImageSymbol) int {
	b.image.Symbols = append(b.image.Symbols, s)
	b.symbols[s.Name] = len(b.image.Symbols) - 1
	return len(b.image.Symbols) - 1
}

// addSymbols makes the symbol table: sections and device functions, which are local, then kernels, variables and
// undefined functions.
func (b *builder) addSymbols() {
	b.image.Symbols = make([]cubin.ImageSymbol, 1)
	for i, s := range b.image.Sections {
		if s.Flags&allocated != 0 || i >= 1 && s.Type == shtCUDAInfo || contains(b.texts, i) {
			b.symbol(cubin.ImageSymbol{Name: s.Name, Info: uint8(elf.STT_SECTION), Section: uint16(i)})
		}
	}
	for i, c := range b.a.codes {
		size := uint64(len(b.insts[i])) * sass.InstSize
		for k, f := range c.functions {
			from, to := uint64(f.inst)*sass.InstSize, size
			if k+1 < len(c.functions) {
				to = uint64(c.functions[k+1].inst) * sass.InstSize
			}
			b.symbol(cubin.ImageSymbol{Name: "$" + c.name + "$" + f.name, Info: functionSym, Section: uint16(b.texts[i]), Value: from, Size: to - from})
		}
	}
	b.image.Sections[b.symtab].Info = uint32(len(b.image.Symbols))
	for i, c := range b.a.codes {
		s := cubin.ImageSymbol{Name: c.name, Info: globalBind | functionSym, Section: uint16(b.texts[i]), Size: uint64(len(b.insts[i])) * sass.InstSize}
		if c.kernel {
			s.Other = stoEntry
		}
		index := b.symbol(s)
		text := b.image.Sections[b.texts[i]]
		text.Info = uint32(index)
		if b.a.arch < sass.SM90 {
			text.Info |= uint32(b.registers(i)) << registerShift
		}
	}
	b.addDataSymbols()
	for _, c := range b.a.codes {
		for _, r := range c.relocs {
			if _, ok := b.symbols[r.symbol]; !ok {
				b.symbol(cubin.ImageSymbol{Name: r.symbol, Info: globalBind | functionSym})
			}
		}
	}
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// addDataSymbols lays the variables out.
func (b *builder) addDataSymbols() {
	for _, d := range b.a.datas {
		section := ".nv.global"
		if d.constant {
			section = ".nv.constant3"
		} else if len(d.bytes) > 0 {
			section = ".nv.global.init"
		}
		index := b.image.SectionIndex(section)
		s := b.image.Sections[index]
		size := max(d.size, len(d.bytes))
		s.Align = max(s.Align, uint64(d.align))
		at := uint64(len(s.Data))
		if !s.HasData() {
			at = s.Size
		}
		at = (at + uint64(d.align) - 1) &^ (uint64(d.align) - 1)
		if s.HasData() {
			s.Data = append(s.Data, make([]byte, int(at)-len(s.Data)+size)...)
			copy(s.Data[at:], d.bytes)
		} else {
			s.Size = at + uint64(size)
		}
		b.symbol(cubin.ImageSymbol{Name: d.name, Info: globalBind | objectSym, Section: uint16(index), Value: at, Size: uint64(size)})
	}
}

// addCode writes the words of the code.
func (b *builder) addCode() {
	for i, insts := range b.insts {
		s := b.image.Sections[b.texts[i]]
		s.Flags = executable | uint64(b.barriers(i))<<barrierShift
		for k := range insts {
			s.Data = binary.LittleEndian.AppendUint64(s.Data, insts[k].Word.Lo)
			s.Data = binary.LittleEndian.AppendUint64(s.Data, insts[k].Word.Hi)
		}
	}
}
