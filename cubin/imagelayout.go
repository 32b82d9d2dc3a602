package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// A part is one of the runs of bytes that a file is made of, behind the ELF header.
type part struct {
	what  string
	at    *Extent
	size  uint64 // in the file
	align uint64
}

// parts lists the parts in the order of NVIDIA's linkers: the sections by index, their headers, the program headers.
func (im *Image) parts() []part {
	var list []part
	for i, s := range im.Sections {
		if i > 0 {
			list = append(list, part{fmt.Sprintf("section %d", i), &s.At, uint64(len(s.Data)), s.Align})
		}
	}
	list = append(list, part{"section headers", &im.HeadersAt, uint64(len(im.Sections)) * sectionSize, 8})
	if len(im.Segments) > 0 {
		list = append(list, part{"program headers", &im.SegmentsAt, uint64(len(im.Segments)) * segmentSize, 8})
	}
	return list
}

func alignUp(v, align uint64) uint64 {
	if align < 2 {
		return v
	}
	return (v + align - 1) / align * align
}

// takeGaps notes where the parts of a file that was read do not follow each other as closely as they can.
func (im *Image) takeGaps(data []byte) error {
	im.Segments = make([]ImageSegment, im.Header.Phnum)
	end := uint64(headerSize)
	for _, p := range im.parts() {
		if p.at.offset < end || p.at.offset > uint64(len(data)) {
			return fmt.Errorf("%s begin at 0x%x of the file, want 0x%x or more", p.what, p.at.offset, end)
		}
		gap := data[end:p.at.offset]
		if p.at.offset != alignUp(end, p.align) || len(bytes.Trim(gap, "\x00")) > 0 {
			p.at.Gap = bytes.Clone(gap)
		}
		end = p.at.offset + p.size
	}
	if end != uint64(len(data)) {
		return fmt.Errorf("%d bytes behind the last part of the file", int64(len(data))-int64(end))
	}
	return nil
}

// maxAlign is the most that a section is aligned to in the file, and the bytes that this may add between two parts: that of a page
// on any system. NVIDIA's linkers align to 128.
const maxAlign = 1 << 16

// place lays the parts out and returns the size of the file.
func (im *Image) place() (uint64, error) {
	end := uint64(headerSize)
	for _, p := range im.parts() {
		if p.align > maxAlign {
			return 0, fmt.Errorf("%s: aligned to 0x%x bytes, %d at most can be written", p.what, p.align, maxAlign)
		}
		p.at.offset = alignUp(end, p.align)
		if p.at.Gap != nil {
			p.at.offset = alignUp(end+uint64(len(p.at.Gap)), p.align)
		}
		end = p.at.offset + p.size
	}
	return end, nil
}

// takeSegments reads the program headers and finds out which sections they cover.
func (im *Image) takeSegments(data []byte) error {
	raw := make([]elf.Prog64, len(im.Segments))
	if len(raw) == 0 {
		return nil
	}
	if im.Header.Phentsize != segmentSize {
		return fmt.Errorf("program headers of %d bytes", im.Header.Phentsize)
	}
	if err := binary.Read(bytes.NewReader(data[im.Header.Phoff:]), binary.LittleEndian, raw); err != nil {
		return fmt.Errorf("program headers: %w", err)
	}
	for i := range raw {
		im.Segments[i] = im.takeSegment(&raw[i])
	}
	return nil
}

// maxSegmentTries bounds the search for the sections of a program header in a damaged file. Several sections begin at
// the same place where all but the last have no contents.
const maxSegmentTries = 1 << 16

// takeSegment finds the sections of a program header; it is a fixed one where there are none that it covers exactly.
func (im *Image) takeSegment(raw *elf.Prog64) ImageSegment {
	s := ImageSegment{Type: elf.ProgType(raw.Type), Flags: elf.ProgFlag(raw.Flags), Align: raw.Align}
	if im.segment(&s) == *raw {
		return s
	}
	tries := 0
	for i := 1; i < len(im.Sections) && tries < maxSegmentTries; i++ {
		if im.Sections[i].At.offset != raw.Off || im.Sections[i].Flags&uint64(elf.SHF_ALLOC) == 0 {
			continue
		}
		s.First = i
		for s.Last = i; s.Last < len(im.Sections) && im.Sections[s.Last].At.offset <= raw.Off+raw.Filesz; s.Last++ {
			if tries++; im.segment(&s) == *raw {
				return s
			}
		}
	}
	s.First, s.Last, s.Fixed, s.Raw = 0, 0, true, *raw
	return s
}

// segment makes the program header from where the sections were placed.
func (im *Image) segment(s *ImageSegment) elf.Prog64 {
	if s.Fixed {
		return s.Raw
	}
	p := elf.Prog64{Type: uint32(s.Type), Flags: uint32(s.Flags), Align: s.Align}
	if s.First == 0 {
		p.Off, p.Filesz = im.SegmentsAt.offset, uint64(len(im.Segments))*segmentSize
		p.Memsz = p.Filesz
		return p
	}
	first := im.Sections[s.First]
	p.Off = first.At.offset
	end, memory := p.Off, p.Off
	for _, in := range im.Sections[s.First : s.Last+1] {
		end = max(end, in.At.offset+uint64(len(in.Data)))
		memory = alignUp(max(memory, in.At.offset), in.Align) + in.size()
	}
	p.Filesz, p.Memsz = end-p.Off, memory-p.Off
	return p
}

// Bytes lays the image out and returns the file. Names that are not in the string tables yet are added to them.
func (im *Image) Bytes() ([]byte, error) {
	if len(im.Sections) == 0 || len(im.Sections) >= int(elf.SHN_LORESERVE) {
		return nil, fmt.Errorf("%d sections", len(im.Sections))
	}
	if err := im.writeSymbols(); err != nil {
		return nil, err
	}
	if err := im.nameSections(); err != nil {
		return nil, err
	}
	size, err := im.place()
	if err != nil {
		return nil, err
	}
	h := &im.Header
	h.Shoff, h.Shnum, h.Shentsize = im.HeadersAt.offset, uint16(len(im.Sections)), sectionSize
	h.Phnum = uint16(len(im.Segments))
	if h.Phnum > 0 {
		h.Phoff, h.Phentsize = im.SegmentsAt.offset, segmentSize
	}
	out := make([]byte, size)
	im.write(out)
	return out, nil
}

// write puts all parts at their places.
func (im *Image) write(out []byte) {
	for _, p := range im.parts() {
		copy(out[p.at.offset-uint64(len(p.at.Gap)):], p.at.Gap)
	}
	encodeAt(out, 0, &im.Header)
	for i, s := range im.Sections {
		if i > 0 { // the null section has no place, whatever its header says
			copy(out[s.At.offset:], s.Data)
		}
		encodeAt(out, im.HeadersAt.offset+uint64(i)*sectionSize, &elf.Section64{
			Name: s.NameAt, Type: s.Type, Flags: s.Flags, Addr: s.Addr, Off: s.At.offset, Size: s.size(), Link: s.Link,
			Info: s.Info, Addralign: s.Align, Entsize: s.Entry,
		})
	}
	for i := range im.Segments {
		p := im.segment(&im.Segments[i])
		encodeAt(out, im.SegmentsAt.offset+uint64(i)*segmentSize, &p)
	}
}

// encodeAt writes a structure of fixed size.
func encodeAt(out []byte, at uint64, v any) {
	// The structures of debug/elf have a fixed size, and out has room for them: this cannot fail.
	_, _ = binary.Encode(out[at:], binary.LittleEndian, v)
}

// writeSymbols makes the contents of .symtab from Symbols.
func (im *Image) writeSymbols() error {
	table := im.Section(".symtab")
	if table == nil {
		return fmt.Errorf("no section .symtab")
	}
	if int(table.Link) >= len(im.Sections) {
		return fmt.Errorf("section .symtab: names in section %d of %d", table.Link, len(im.Sections))
	}
	names := im.Sections[table.Link]
	table.Data = make([]byte, len(im.Symbols)*symbolSize)
	for i := range im.Symbols {
		s := &im.Symbols[i]
		s.NameAt = names.intern(s.Name, s.NameAt)
		encodeAt(table.Data, uint64(i)*symbolSize, &elf.Sym64{
			Name: s.NameAt, Info: s.Info, Other: s.Other, Shndx: s.Section, Value: s.Value, Size: s.Size,
		})
	}
	return nil
}

// nameSections finds the names of the sections in the table of names.
func (im *Image) nameSections() error {
	if int(im.Header.Shstrndx) >= len(im.Sections) {
		return fmt.Errorf("section names in section %d of %d", im.Header.Shstrndx, len(im.Sections))
	}
	names := im.Sections[im.Header.Shstrndx]
	for _, s := range im.Sections {
		s.NameAt = names.intern(s.Name, s.NameAt)
	}
	return nil
}

// intern returns the offset of a name in a string table, which is the one where it was before if it still is there.
func (s *ImageSection) intern(name string, before uint32) uint32 {
	whole := name + "\x00"
	if uint64(before) < uint64(len(s.Data)) && strings.HasPrefix(string(s.Data[before:min(len(s.Data), int(before)+len(whole))]), whole) {
		return before
	}
	if len(s.Data) == 0 {
		s.Data = []byte{0}
	}
	if name == "" {
		return 0
	}
	if i := bytes.Index(s.Data, []byte("\x00"+whole)); i >= 0 {
		return uint32(i + 1)
	}
	at := len(s.Data)
	s.Data = append(s.Data, whole...)
	return uint32(at)
}

// Section returns the section of that name, nil where there is none.
func (im *Image) Section(name string) *ImageSection {
	if i := im.SectionIndex(name); i > 0 {
		return im.Sections[i]
	}
	return nil
}

// SectionIndex returns the index of the section of that name, 0 where there is none.
func (im *Image) SectionIndex(name string) int {
	for i, s := range im.Sections {
		if i > 0 && s.Name == name {
			return i
		}
	}
	return 0
}
