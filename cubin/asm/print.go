package asm

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// Print writes a cubin in the section form, which assembles back to the bytes of the file. An instruction whose text does
// not say all bits of its word is printed as .inst with the text as a comment.
func Print(w io.Writer, f *cubin.File) error {
	im, err := cubin.ReadImage(f.Name, f.Raw)
	if err != nil {
		return err
	}
	p := printer{Writer: bufio.NewWriter(w), file: f, image: im, codes: make(map[int]*cubin.Code)}
	for _, c := range f.Codes {
		p.codes[c.Section] = c
	}
	p.header()
	for i := range im.Sections {
		p.section(i)
	}
	return p.Flush()
}

type printer struct {
	*bufio.Writer
	file  *cubin.File
	image *cubin.Image
	codes map[int]*cubin.Code // by section index
}

func (p *printer) printf(format string, args ...any) {
	fmt.Fprintf(p.Writer, format, args...) // the writer keeps the error for Flush
}

// header prints what stands outside of sections.
func (p *printer) header() {
	h := &p.image.Header
	p.printf("// %s\n.arch sm_%d\n", strings.ToValidUTF8(strings.Map(printableRune, p.file.Name), "?"), p.file.Arch)
	p.printf(".elf %x type=%d machine=%d version=0x%x entry=0x%x flags=0x%x ehsize=%d phentsize=%d names=%d\n",
		h.Ident[:], h.Type, h.Machine, h.Version, h.Entry, h.Flags, h.Ehsize, h.Phentsize, h.Shstrndx)
	for i := range p.image.Segments {
		s := &p.image.Segments[i]
		p.printf(".segment type=0x%x flags=0x%x align=%d", uint32(s.Type), uint32(s.Flags), s.Align)
		if s.Fixed {
			r := &s.Raw
			p.printf(" fixed=1 offset=0x%x vaddr=0x%x paddr=0x%x filesz=0x%x memsz=0x%x\n", r.Off, r.Vaddr, r.Paddr, r.Filesz, r.Memsz)
		} else {
			p.printf(" first=%d last=%d\n", s.First, s.Last)
		}
	}
	p.gap("headers", p.image.HeadersAt.Gap)
	p.gap("segments", p.image.SegmentsAt.Gap)
}

// gap prints what stands before a part of the file beyond alignment.
func (p *printer) gap(part string, gap []byte) {
	switch {
	case gap == nil:
	case len(bytes.Trim(gap, "\x00")) == 0 && len(gap) <= maxBank:
		p.printf(".gap %s, %d\n", part, len(gap))
	default:
		p.printf(".gap %s, =%x\n", part, gap)
	}
}

func printableRune(r rune) rune {
	if strconv.IsPrint(r) {
		return r
	}
	return '?'
}

// section prints a section and its contents.
func (p *printer) section(index int) {
	s := p.image.Sections[index]
	p.printf("\n// section %d\n.section %s type=0x%x flags=0x%x", index, strconv.Quote(s.Name), s.Type, s.Flags)
	for _, field := range []struct {
		key   string
		value uint64
	}{{"addr", s.Addr}, {"link", uint64(s.Link)}, {"info", uint64(s.Info)}, {"align", s.Align}, {"entry", s.Entry}, {"size", s.Size}} {
		if field.value != 0 {
			p.printf(" %s=0x%x", field.key, field.value)
		}
	}
	p.nameAt(p.image.Header.Shstrndx, s.Name, s.NameAt)
	p.printf("\n")
	p.gap("section", s.At.Gap)
	code := p.codes[index]
	switch {
	case !s.HasData():
	case code != nil:
		p.code(code)
	case s.Name == ".symtab":
		p.symbols(s)
	case s.Type == uint32(elf.SHT_STRTAB) && validStrings(s.Data):
		for _, text := range strings.Split(strings.TrimSuffix(string(s.Data), "\x00"), "\x00") {
			p.printf("    .strings %s\n", strconv.Quote(text))
		}
	case s.Type == shtCUDAInfo && p.attributes(s.Data):
	default:
		p.bytes(s.Data)
	}
}

// nameAt prints where a name stands in its string table if that is not where it would be looked for.
func (p *printer) nameAt(table uint16, name string, at uint32) {
	if name == "" && at == 0 {
		return
	}
	if int(table) < len(p.image.Sections) && name != "" {
		data := p.image.Sections[table].Data
		if i := bytes.Index(data, []byte("\x00"+name+"\x00")); i >= 0 && uint32(i+1) == at {
			return
		}
	}
	p.printf(" at=%d", at)
}

// validStrings reports whether a string table survives printing.
func validStrings(data []byte) bool {
	return len(data) > 0 && data[len(data)-1] == 0
}

// bytes prints contents that have no better form.
func (p *printer) bytes(data []byte) {
	for len(data) > 0 {
		n := min(len(data), 32)
		p.printf("    .bytes %s\n", hex.EncodeToString(data[:n]))
		data = data[n:]
	}
}

// symbols prints the symbol table.
func (p *printer) symbols(table *cubin.ImageSection) {
	for i := range p.image.Symbols {
		s := &p.image.Symbols[i]
		p.printf("    .symbol %s info=0x%x other=0x%x section=%d value=0x%x size=0x%x", strconv.Quote(s.Name), s.Info, s.Other, s.Section, s.Value, s.Size)
		p.nameAt(uint16(table.Link), s.Name, s.NameAt)
		p.printf(" // %d\n", i)
	}
}

// attributes prints a section of attributes; false where a record is damaged or of another shape.
func (p *printer) attributes(data []byte) bool {
	le := binary.LittleEndian
	var out strings.Builder
	for at := 0; at < len(data); {
		if len(data)-at < 4 || data[at] < 1 || data[at] > 4 {
			return false
		}
		format, code, value := data[at], data[at+1], le.Uint16(data[at+2:])
		fmt.Fprintf(&out, "    .attr 0x%02x, %d", code, format)
		at += 4
		if format < 4 {
			fmt.Fprintf(&out, ", 0x%x", value)
		} else {
			if int(value) > len(data)-at || value%4 != 0 {
				return false
			}
			for end := at + int(value); at < end; at += 4 {
				fmt.Fprintf(&out, ", 0x%x", le.Uint32(data[at:]))
			}
		}
		out.WriteString("\n")
	}
	p.printf("%s", out.String())
	return true
}

// code prints a section of instructions.
func (p *printer) code(code *cubin.Code) {
	labels := Labels(code)
	for pc, name := range labels {
		if !plainName(name) || reserved(name) {
			delete(labels, pc)
		}
	}
	for i := range code.Insts {
		in := &code.Insts[i]
		if f := code.FunctionAt(in.PC); f != nil && f.Offset == in.PC {
			p.printf("    // %s %s\n", f.Kind, f.Demangled)
		}
		if label, ok := labels[in.PC]; ok {
			p.printf("%s:\n", label)
		}
		p.instruction(in, labels)
	}
}

// instruction prints one instruction.
func (p *printer) instruction(in *sass.Inst, labels map[uint64]string) {
	if !in.Known() {
		p.printf("    .inst 0x%016x, 0x%016x\n", in.Word.Hi, in.Word.Lo)
		return
	}
	back, err := sass.Parse(in.Arch, in.PC, in.AssemblyText(nil), in.Control)
	if err != nil || back.Word != in.Word {
		p.printf("    .inst 0x%016x, 0x%016x // %s\n", in.Word.Hi, in.Word.Lo, in.Text())
		return
	}
	text := in.AssemblyText(func(pc uint64) string {
		if label, ok := labels[pc]; ok {
			return "`(" + label + ")"
		}
		return ""
	})
	p.printf("    %s %s ;\n", in.Control, text)
}
