// Package solib writes shared libraries whose functions are carried out by another process: every function sends its number and its
// arguments on a unix socket and does what the answers say (package wire has the messages).
//
// A library is an ELF file without any dependency: no C library, no relocations, and sections for linkers alone, behind all that is loaded.
// Its code is the machine code of an assembly function of this package, copied from the running program; so there is nothing to compile
// and nothing prebuilt. The page of data behind it holds the address of the socket and 64 connections, which threads share as they need
// them.
package solib

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// ErrPlatform says that libraries cannot be written for this computer.
var ErrPlatform = errors.New("programs run on the emulated GPU under Linux on amd64 and arm64 only")

// A Library is a shared library to be written.
type Library struct {
	Soname  string
	Version string   // of all symbols, "" for none
	Names   []string // of the functions, by number; "" for one that only [Image.Function] finds
	Base    int      // is added to the numbers that calls carry
	Socket  string   // path of the server's socket
}

// An Image is the ELF file of a library.
type Image struct {
	Bytes []byte
	stubs uint64 // address of the first stub, as of the file
	data  uint64
	count int
}

const (
	stubSize = 24
	buckets  = 256

	// The data: length and contents of the socket's address (sockaddr_un of unix(7)), then slots of {taken, process, descriptor, 0},
	// then bytes that the server may put there.
	addressAt   = 8
	addressRoom = 110
	slotsAt     = 128
	slots       = 64
	slotSize    = 16
	scratchAt   = slotsAt + slots*slotSize

	// ScratchSize is how many bytes the server may put at [Scratch].
	ScratchSize = 128
)

// Scratch returns the address of bytes of the image's data, which lies at data in a process, for the server's use.
func Scratch(data uint64) uint64 { return data + scratchAt }

// Function returns the address of a function in a process in which the image's data lies at data.
func (im *Image) Function(data uint64, number int) (uint64, error) {
	if number < 0 || number >= im.count {
		return 0, fmt.Errorf("the library has no function %d", number)
	}
	return data - im.data + im.stubs + stubSize*uint64(number), nil
}

// Image writes the library. The code and what the loader reads lie in one segment, what is written to in another.
func (l *Library) Image() (*Image, error) {
	code, err := clientCode()
	if err != nil {
		return nil, err
	}
	return l.image(hostMachine(), code)
}

// image writes the library for a machine, with the code of its client.
func (l *Library) image(m *machine, code []byte) (*Image, error) {
	if len(l.Socket) >= addressRoom-2 {
		return nil, fmt.Errorf("the path of the socket has %d bytes, it can have %d", len(l.Socket), addressRoom-3)
	}
	w := &writer{library: l, machine: m, names: []byte{0}}
	w.layOut(len(code))
	w.header()
	w.symbols()
	w.stubs(code)
	w.dynamic()
	w.data()
	w.sections()
	return &Image{Bytes: w.bytes, stubs: uint64(w.stubAt), data: uint64(w.dataAt), count: w.functions()}, nil
}

// A writer lays a library out and writes its parts.
type writer struct {
	library *Library
	machine *machine
	names   []byte // the string table
	list    []export
	soname  uint32
	version uint32
	bytes   []byte

	hashAt, symbolsAt, namesAt, versionsAt, definitionsAt, stubAt, codeAt, readEnd int
	dynamicAt, dataAt, dataEnd, sectionsAt, sectionNamesAt                         int
}

func (w *writer) functions() int { return len(w.library.Names) }

// An export is a function that is found by name.
type export struct {
	name   string
	nameAt uint32
	number int
}

const (
	headerSize  = 64
	programSize = 56
	programs    = 4
	symbolSize  = 24
	entries     = 10 // of the dynamic section, with the null entry
	entrySize   = 16

	// A version definition with one name: Elf64_Verdef and Elf64_Verdaux.
	definitionSize = 20
	definitionName = 8
	definitions    = 2 // that of the file itself, and that of the symbols
)

func (w *writer) layOut(code int) {
	w.soname = w.name(w.library.Soname)
	w.version = w.name(w.library.Version)
	for i, n := range w.library.Names {
		if n != "" {
			w.list = append(w.list, export{n, w.name(n), i})
		}
	}
	end := headerSize + programs*programSize
	place := func(size, align int) int {
		at := (end + align - 1) &^ (align - 1)
		end = at + size
		return at
	}
	count := len(w.list) + 1
	w.hashAt = place(4*(2+buckets+count), 8)
	w.symbolsAt = place(symbolSize*count, 8)
	w.namesAt = place(len(w.names), 8)
	w.versionsAt = place(2*count, 8)
	w.definitionsAt = place(definitions*(definitionSize+definitionName), 8)
	w.stubAt = place(stubSize*w.functions(), 64)
	w.codeAt = place(code, 8)
	w.readEnd = end
	w.dynamicAt = place(entries*entrySize, w.machine.page)
	w.dataAt = place(scratchAt+ScratchSize, 64)
	w.dataEnd = end
	w.sectionNamesAt = place(len(sectionNames), 8)
	w.sectionsAt = place(sections*sectionSize, 8)
	w.bytes = make([]byte, end)
}

// name adds a string to the string table and returns its offset.
func (w *writer) name(s string) uint32 {
	at := uint32(len(w.names))
	w.names = append(append(w.names, s...), 0)
	return at
}

// put writes a structure of package elf.
func (w *writer) put(at int, v any) {
	if _, err := binary.Encode(w.bytes[at:], binary.LittleEndian, v); err != nil {
		panic(err) // it has been laid out for what is written
	}
}

func (w *writer) header() {
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(w.machine.elf), Version: uint32(elf.EV_CURRENT), Phoff: headerSize,
		Ehsize: headerSize, Phentsize: programSize, Phnum: programs,
		Shoff: uint64(w.sectionsAt), Shentsize: sectionSize, Shnum: sections, Shstrndx: sections - 1}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	w.put(0, h)
	segment := func(i int, kind elf.ProgType, flags elf.ProgFlag, from, to, align int) {
		n, at := uint64(to-from), uint64(from)
		w.put(headerSize+programSize*i, elf.Prog64{Type: uint32(kind), Flags: uint32(flags), Off: at, Vaddr: at, Paddr: at, Filesz: n, Memsz: n, Align: uint64(align)})
	}
	segment(0, elf.PT_LOAD, elf.PF_R|elf.PF_X, 0, w.readEnd, w.machine.page)
	segment(1, elf.PT_LOAD, elf.PF_R|elf.PF_W, w.dynamicAt, w.dataEnd, w.machine.page)
	segment(2, elf.PT_DYNAMIC, elf.PF_R|elf.PF_W, w.dynamicAt, w.dynamicAt+entries*entrySize, 8)
	segment(3, elf.PT_GNU_STACK, elf.PF_R|elf.PF_W, 0, 0, 16)
}

// symbols writes the symbol table and the hash table that the loader finds names by (System V ABI, hash table).
func (w *writer) symbols() {
	copy(w.bytes[w.namesAt:], w.names)
	count := len(w.list) + 1
	table := make([]uint32, 2+buckets+count)
	table[0], table[1] = buckets, uint32(count)
	heads, chains := table[2:2+buckets], table[2+buckets:]
	const named = 2 // the version that the second definition names
	for i, f := range w.list {
		w.put(w.symbolsAt+symbolSize*(i+1), elf.Sym64{Name: f.nameAt, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1,
			Value: uint64(w.stubAt + stubSize*f.number), Size: stubSize})
		head := &heads[hash(f.name)%buckets]
		chains[i+1], *head = *head, uint32(i+1)
		w.put(w.versionsAt+2*(i+1), uint16(named))
	}
	w.put(w.hashAt, table)
	w.definition(1, w.library.Soname, w.soname)
	w.definition(named, w.library.Version, w.version)
}

// definition writes the definition of a version (LSB core specification, symbol versioning).
func (w *writer) definition(index int, name string, nameAt uint32) {
	const current, base = 1, 1
	d := struct {
		Version, Flags, Index, Count uint16
		Hash, Name, Next             uint32
		Text, NextText               uint32
	}{Version: current, Index: uint16(index), Count: 1, Hash: hash(name), Name: definitionSize, Text: nameAt}
	if index == 1 {
		d.Flags = base
	}
	if index < definitions {
		d.Next = definitionSize + definitionName
	}
	w.put(w.definitionsAt+(index-1)*(definitionSize+definitionName), d)
}

// hash is the hash function of the System V ABI.
func hash(name string) uint32 {
	var h uint32
	for _, c := range []byte(name) {
		h = h<<4 + uint32(c)
		high := h & 0xf0000000
		h ^= high >> 24
		h &^= high
	}
	return h
}

// stubs writes the functions, and the common code that they jump to.
func (w *writer) stubs(code []byte) {
	copy(w.bytes[w.codeAt:], code)
	for i := range w.functions() {
		at := w.stubAt + stubSize*i
		copy(w.bytes[at:at+stubSize], w.machine.stub(w.library.Base+i, at, w.dataAt, w.codeAt))
	}
}

func (w *writer) dynamic() {
	list := []elf.Dyn64{
		{Tag: int64(elf.DT_SONAME), Val: uint64(w.soname)},
		{Tag: int64(elf.DT_HASH), Val: uint64(w.hashAt)},
		{Tag: int64(elf.DT_STRTAB), Val: uint64(w.namesAt)},
		{Tag: int64(elf.DT_SYMTAB), Val: uint64(w.symbolsAt)},
		{Tag: int64(elf.DT_STRSZ), Val: uint64(len(w.names))},
		{Tag: int64(elf.DT_SYMENT), Val: symbolSize},
	}
	if w.library.Version != "" {
		list = append(list, elf.Dyn64{Tag: int64(elf.DT_VERSYM), Val: uint64(w.versionsAt)}, elf.Dyn64{Tag: int64(elf.DT_VERDEF), Val: uint64(w.definitionsAt)},
			elf.Dyn64{Tag: int64(elf.DT_VERDEFNUM), Val: definitions})
	}
	w.put(w.dynamicAt, list)
}

// data writes the socket's address.
func (w *writer) data() {
	const unix = 1 // AF_UNIX
	w.put(w.dataAt, uint32(2+len(w.library.Socket)+1))
	w.put(w.dataAt+addressAt, uint16(unix))
	copy(w.bytes[w.dataAt+addressAt+2:], w.library.Socket)
}

// The sections are for linkers, which find names by them; the loader does without. The first is that of the functions (see symbols).
const (
	sectionSize  = 64
	sections     = 9
	sectionNames = "\x00.text\x00.dynsym\x00.dynstr\x00.hash\x00.dynamic\x00.gnu.version\x00.gnu.version_d\x00.shstrtab\x00"
)

func (w *writer) sections() {
	copy(w.bytes[w.sectionNamesAt:], sectionNames)
	const symbols, names = 2, 3 // by number
	count, read, write, code := len(w.list)+1, elf.SHF_ALLOC, elf.SHF_ALLOC|elf.SHF_WRITE, elf.SHF_ALLOC|elf.SHF_EXECINSTR
	for i, s := range []struct {
		name             string
		kind             elf.SectionType
		flags            elf.SectionFlag
		at, size         int
		link, info       uint32
		align, entrySize int
	}{
		{".text", elf.SHT_PROGBITS, code, w.stubAt, w.readEnd - w.stubAt, 0, 0, 64, 0},
		{".dynsym", elf.SHT_DYNSYM, read, w.symbolsAt, symbolSize * count, names, 1, 8, symbolSize},
		{".dynstr", elf.SHT_STRTAB, read, w.namesAt, len(w.names), 0, 0, 1, 0},
		{".hash", elf.SHT_HASH, read, w.hashAt, 4 * (2 + buckets + count), symbols, 0, 8, 4},
		{".dynamic", elf.SHT_DYNAMIC, write, w.dynamicAt, entries * entrySize, names, 0, 8, entrySize},
		{".gnu.version", elf.SHT_GNU_VERSYM, read, w.versionsAt, 2 * count, symbols, 0, 2, 2},
		{".gnu.version_d", elf.SHT_GNU_VERDEF, read, w.definitionsAt, definitions * (definitionSize + definitionName), names, definitions, 4, 0},
		{".shstrtab", elf.SHT_STRTAB, 0, w.sectionNamesAt, len(sectionNames), 0, 0, 1, 0},
	} {
		if w.library.Version == "" && (s.kind == elf.SHT_GNU_VERSYM || s.kind == elf.SHT_GNU_VERDEF) {
			continue // it stays a null section
		}
		h := elf.Section64{Name: uint32(strings.Index(sectionNames, s.name+"\x00")), Type: uint32(s.kind), Flags: uint64(s.flags), Off: uint64(s.at),
			Size: uint64(s.size), Link: s.link, Info: s.info, Addralign: uint64(s.align), Entsize: uint64(s.entrySize)}
		if s.flags&elf.SHF_ALLOC != 0 {
			h.Addr = h.Off
		}
		w.put(w.sectionsAt+sectionSize*(i+1), h)
	}
}
