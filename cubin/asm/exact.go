package asm

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// An exact is the image that the section form describes.
type exact struct {
	image cubin.Image
	codes map[int]*code // by section index
}

// beginExact begins the section form with what the ELF header says.
func beginExact(a *assembler, g *args) error {
	if a.exact != nil || len(a.codes)+len(a.datas) > 0 {
		return a.errorAt(g.pos, ".elf comes once, before everything else but .arch")
	}
	if a.arch == 0 {
		return a.errorAt(g.pos, "want .arch sm_NN before .elf")
	}
	ident, err := g.hexBytes("the identification bytes")
	if err != nil {
		return err
	}
	a.exact = &exact{codes: make(map[int]*code)}
	im := &a.exact.image
	h := &im.Header
	if copy(h.Ident[:], ident) != elf.EI_NIDENT {
		return g.fail("want %d identification bytes", elf.EI_NIDENT)
	}
	h.Shentsize = 64
	return g.fields(map[string]func(uint64){
		"type": to(&h.Type), "machine": to(&h.Machine), "version": to(&h.Version), "entry": to(&h.Entry),
		"flags": to(&h.Flags), "ehsize": to(&h.Ehsize), "phentsize": to(&h.Phentsize), "names": to(&h.Shstrndx),
	})
}

// to returns what stores a number in a field.
func to[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](field *T) func(uint64) {
	return func(v uint64) { *field = T(v) }
}

// fields reads key=value pairs up to the end of the line.
func (g *args) fields(known map[string]func(uint64)) error {
	for !g.done() {
		at := g.at
		key, err := g.name("a field")
		if err != nil {
			return err
		}
		set, ok := known[key]
		if !ok {
			g.at = at
			return g.fail("no field %s", key)
		}
		if !g.accept('=') {
			return g.fail("want =")
		}
		v, err := g.number("a number")
		if err != nil {
			return err
		}
		set(uint64(v))
	}
	return nil
}

// hexBytes reads bytes as pairs of hexadecimal digits.
func (g *args) hexBytes(what string) ([]byte, error) {
	g.spaces()
	end := g.at
	for end < len(g.line) && g.line[end] != ' ' {
		end++
	}
	data, err := hex.DecodeString(g.line[g.at:end])
	if err != nil || len(data) == 0 {
		return nil, g.fail("want %s in hexadecimal", what)
	}
	g.at = end
	return data, nil
}

// inExact returns the section form that a directive belongs to.
func (a *assembler) inExact(g *args) (*exact, error) {
	if a.exact == nil {
		return nil, a.errorAt(g.pos, "want .elf before this")
	}
	return a.exact, nil
}

// exactSegment adds a program header: by the sections that it covers, or by its figures.
func exactSegment(a *assembler, g *args) error {
	x, err := a.inExact(g)
	if err != nil {
		return err
	}
	var s cubin.ImageSegment
	r := &s.Raw
	fixed := uint64(0)
	err = g.fields(map[string]func(uint64){
		"type": to(&s.Type), "flags": to(&s.Flags), "align": to(&s.Align), "first": to(&s.First), "last": to(&s.Last),
		"fixed": to(&fixed), "offset": to(&r.Off), "vaddr": to(&r.Vaddr), "paddr": to(&r.Paddr), "filesz": to(&r.Filesz),
		"memsz": to(&r.Memsz),
	})
	s.Fixed = fixed != 0
	r.Type, r.Flags, r.Align = uint32(s.Type), uint32(s.Flags), s.Align
	x.image.Segments = append(x.image.Segments, s)
	return err
}

// exactSection begins a section.
func exactSection(a *assembler, g *args) error {
	x, err := a.inExact(g)
	if err != nil {
		return err
	}
	name, err := g.quoted("the name of a section")
	if err != nil {
		return err
	}
	s := &cubin.ImageSection{Name: name}
	err = g.fields(map[string]func(uint64){
		"type": to(&s.Type), "flags": to(&s.Flags), "addr": to(&s.Addr), "link": to(&s.Link), "info": to(&s.Info),
		"align": to(&s.Align), "entry": to(&s.Entry), "size": to(&s.Size), "at": to(&s.NameAt),
	})
	if err != nil {
		return err
	}
	if s.Align > 1<<16 {
		return a.errorAt(g.pos, "section aligned to %d", s.Align)
	}
	a.code = newCode("", false)
	delete(a.code.labels, "")
	x.codes[len(x.image.Sections)] = a.code
	x.image.Sections = append(x.image.Sections, s)
	return nil
}

// exactGap says what stands before a part of the file beyond alignment: .gap section|headers|segments, zero bytes or
// digits. A section is the last one that was begun.
func exactGap(a *assembler, g *args) error {
	x, err := a.inExact(g)
	if err != nil {
		return err
	}
	part, err := g.name("section, headers or segments")
	if err != nil {
		return err
	}
	var extent *cubin.Extent
	switch n := len(x.image.Sections); {
	case part == "headers":
		extent = &x.image.HeadersAt
	case part == "segments":
		extent = &x.image.SegmentsAt
	case part == "section" && n > 0:
		extent = &x.image.Sections[n-1].At
	default:
		return g.fail("no part %s", part)
	}
	if !g.accept(',') {
		return g.fail("want a comma")
	}
	if g.accept('=') {
		extent.Gap, err = g.hexBytes("bytes")
		return err
	}
	size, err := g.count("a number of bytes", maxBank)
	extent.Gap = make([]byte, size)
	return err
}

// last returns the section that contents go into.
func (a *assembler) last(g *args) (*cubin.ImageSection, error) {
	x, err := a.inExact(g)
	if err != nil {
		return nil, err
	}
	if len(x.image.Sections) == 0 {
		return nil, a.errorAt(g.pos, "want .section before this")
	}
	s := x.image.Sections[len(x.image.Sections)-1]
	if !s.HasData() {
		return nil, a.errorAt(g.pos, "section %s has no contents", s.Name)
	}
	return s, nil
}

func exactBytes(a *assembler, g *args) error {
	s, err := a.last(g)
	if err != nil {
		return err
	}
	data, err := g.hexBytes("bytes")
	if err != nil {
		return err
	}
	s.Data = append(s.Data, data...)
	return g.end()
}

// exactStrings adds strings, each with a zero byte behind it.
func exactStrings(a *assembler, g *args) error {
	s, err := a.last(g)
	if err != nil {
		return err
	}
	for {
		text, err := g.quoted("a string")
		if err != nil {
			return err
		}
		s.Data = append(append(s.Data, text...), 0)
		if !g.accept(',') {
			return g.end()
		}
	}
}

// exactAttribute adds a record of .nv.info: .attr CODE, FORMAT, words or the 16-bit value.
func exactAttribute(a *assembler, g *args) error {
	s, err := a.last(g)
	if err != nil {
		return err
	}
	list, err := g.numbers("a number", 1<<14)
	if err != nil {
		return err
	}
	if len(list) < 2 || list[0]>>8 != 0 || list[1] < 1 || list[1] > 4 || list[1] < 4 && len(list) != 3 {
		return a.errorAt(g.pos, "want an attribute, its format from 1 to 4 and its words")
	}
	s.Data = append(s.Data, byte(list[1]), byte(list[0]))
	if list[1] < 4 {
		s.Data = binary.LittleEndian.AppendUint16(s.Data, uint16(list[2]))
		return nil
	}
	s.Data = binary.LittleEndian.AppendUint16(s.Data, uint16(4*(len(list)-2)))
	for _, v := range list[2:] {
		s.Data = binary.LittleEndian.AppendUint32(s.Data, uint32(v))
	}
	return nil
}

// exactSymbol adds an entry of the symbol table.
func exactSymbol(a *assembler, g *args) error {
	x, err := a.inExact(g)
	if err != nil {
		return err
	}
	var s cubin.ImageSymbol
	if s.Name, err = g.quoted("the name of a symbol"); err != nil {
		return err
	}
	err = g.fields(map[string]func(uint64){
		"info": to(&s.Info), "other": to(&s.Other), "section": to(&s.Section), "value": to(&s.Value), "size": to(&s.Size),
		"at": to(&s.NameAt),
	})
	x.image.Symbols = append(x.image.Symbols, s)
	return err
}

// finish makes the file of the sections.
func (x *exact) finish(a *assembler) ([]byte, error) {
	for index := range x.image.Sections {
		c, s := x.codes[index], x.image.Sections[index]
		if len(c.items) == 0 {
			continue
		}
		insts, err := a.assembleCode(c)
		if err != nil {
			return nil, err
		}
		if len(c.relocs) > 0 || len(c.marks) > 0 {
			return nil, a.errorAt(a.current, "section %s: the section form has relocations and lines as bytes", s.Name)
		}
		for i := range insts {
			s.Data = binary.LittleEndian.AppendUint64(s.Data, insts[i].Word.Lo)
			s.Data = binary.LittleEndian.AppendUint64(s.Data, insts[i].Word.Hi)
		}
	}
	for i := range x.image.Segments {
		if s := &x.image.Segments[i]; s.First < 0 || s.Last >= len(x.image.Sections) || s.First > s.Last {
			return nil, a.errorAt(a.current, "program header of sections %d to %d", s.First, s.Last)
		}
	}
	data, err := x.image.Bytes()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	return data, nil
}

// Labels names the targets of the branches and calls in a section, by address: a function by its symbol, any other place
// by a number behind ".L_". Targets outside the section have no name.
func Labels(code *cubin.Code) map[uint64]string {
	labels := make(map[uint64]string)
	for i := range code.Insts {
		for _, o := range code.Insts[i].Operands {
			if _, ok := code.InstIndex(o.Imm); ok && o.Kind == sass.KindTarget {
				labels[o.Imm] = ""
			}
		}
	}
	for i := range code.Functions {
		f := &code.Functions[i]
		if _, ok := labels[f.Offset]; ok {
			labels[f.Offset] = f.Name
		}
	}
	var places []uint64
	for pc, name := range labels {
		if name == "" {
			places = append(places, pc)
		}
	}
	slices.Sort(places)
	for i, pc := range places {
		labels[pc] = fmt.Sprint(".L_", i)
	}
	return labels
}
