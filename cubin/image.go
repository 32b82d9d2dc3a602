package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// An Image is a cubin as its ELF parts, to be changed and written again, or to be built from nothing. [File] is the
// other view of the same bytes: what the parts mean.
//
// An image that was read and not changed is written byte for byte as it was.
type Image struct {
	Header   elf.Header64    // the offsets and counts of the tables in it are set by [Image.Bytes]
	Sections []*ImageSection // by index; the first is the null section
	Segments []ImageSegment
	// Symbols are the entries of .symtab by index, the null symbol first. The section's Data is written from them.
	Symbols []ImageSymbol

	HeadersAt, SegmentsAt Extent // of the section headers and the program headers
}

// An ImageSection is a section of an image. Its offset in the file follows from its place in the list.
type ImageSection struct {
	Name  string
	Type  uint32
	Flags uint64
	Addr  uint64
	Link  uint32
	Info  uint32
	Align uint64
	Entry uint64 // size of an entry, of sections that are tables
	Data  []byte // nil for a section without contents in the file
	Size  uint64 // of a section without contents; for the others the length of Data counts

	At     Extent
	NameAt uint32 // offset of Name in the section of names; where another name is, it is looked for or added
}

// An Extent is the place of a part in the file. Gap is what stands before it, where that is not the fewest zero bytes
// that align it.
type Extent struct {
	Gap    []byte
	offset uint64
}

// An ImageSymbol is an entry of the symbol table.
type ImageSymbol struct {
	Name    string
	Info    uint8 // type and binding, as elf.ST_INFO makes it
	Other   uint8
	Section uint16 // index, or one of the reserved values of [elf.SectionIndex]
	Value   uint64
	Size    uint64

	NameAt uint32 // as that of a section
}

// An ImageSegment is a program header. First and Last are the sections that it covers; with First 0 and Type PT_LOAD or
// PT_PHDR it covers the program headers themselves. Fixed ones are written as Raw.
type ImageSegment struct {
	Type        elf.ProgType
	Flags       elf.ProgFlag
	Align       uint64
	First, Last int
	Fixed       bool
	Raw         elf.Prog64
}

// segmentSize is the size of a program header.
const segmentSize = 56

// HasData reports whether sections of the type have contents in the file.
func (s *ImageSection) HasData() bool { return typeHasData(s.Type) }

func typeHasData(t uint32) bool {
	switch t {
	case uint32(elf.SHT_NOBITS), uint32(elf.SHT_NULL), shtCUDAGlobal, shtCUDAShared:
		return false
	}
	return true
}

// size is the size that the section header says.
func (s *ImageSection) size() uint64 {
	if s.HasData() {
		return uint64(len(s.Data))
	}
	return s.Size
}

// ReadImage takes a linked cubin apart. The image shares no memory with data. The error is that of
// [NewFile] where the container is damaged.
func ReadImage(name string, data []byte) (*Image, error) {
	r := reader{file: &File{Name: name, Raw: data}}
	for _, step := range []func() error{r.readHeader, r.readSections, r.readSymbols} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	im := &Image{Header: r.header}
	im.takeSections(&r)
	im.takeSymbols(&r)
	im.HeadersAt.offset, im.SegmentsAt.offset = r.header.Shoff, r.header.Phoff
	if err := im.takeGaps(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return im, im.takeSegments(data)
}

// takeSections copies the sections.
func (im *Image) takeSections(r *reader) {
	le := binary.LittleEndian
	for i := range r.file.Sections {
		s, raw := &r.file.Sections[i], r.file.Raw[r.header.Shoff+uint64(i)*sectionSize:]
		out := &ImageSection{
			Name: s.Name, Type: uint32(s.Type), Flags: uint64(s.Flags), Addr: s.Addr, Link: s.Link, Info: s.Info,
			Align: s.Addralign, Entry: s.Entsize, NameAt: le.Uint32(raw), At: Extent{offset: le.Uint64(raw[0x18:])},
		}
		if out.HasData() {
			out.Data = bytes.Clone(r.file.SectionData(i))
		} else {
			out.Size = s.Size
		}
		im.Sections = append(im.Sections, out)
	}
}

// takeSymbols copies the symbols.
func (im *Image) takeSymbols(r *reader) {
	le, table := binary.LittleEndian, r.section(".symtab")
	for i := range r.symbols {
		e := table[i*symbolSize:]
		im.Symbols = append(im.Symbols, ImageSymbol{
			Name: r.symbols[i].name, Info: e[4], Other: e[5], Section: le.Uint16(e[6:]), Value: le.Uint64(e[8:]),
			Size: le.Uint64(e[16:]), NameAt: le.Uint32(e),
		})
	}
}
