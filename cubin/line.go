package cubin

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lineTable maps the instructions of one section to source lines.
type lineTable struct {
	sequences []lineSequence // by start
	names     map[uint64]inlineName
	shifts    []lineShift // by address, of Python's lines
}

// A lineSequence is a run of rows with rising addresses, from the program in .debug_line.
type lineSequence struct {
	start, end uint64 // offsets in the section
	rows       []lineRow
	files      []string // shared by the sequences of one unit

	unit            lineUnit
	from, place, to int // of the program in its section, and of the address in it
}

// A lineRow says where the code from its address on comes from. Several rows may share an address, of which the last is
// the innermost. Context is the number of the row of the same sequence, counted from 1, that holds the call site into
// which the row's code was inlined, 0 for code that was not; name is then the offset in .debug_str of the inlined
// function's name.
type lineRow struct {
	address uint64
	file    uint32
	line    uint32
	context uint32
	name    uint32
}

// An inlineName is the name of an inlined function.
type inlineName struct{ symbol, demangled string }

// maxInlineDepth bounds the inline stacks of damaged files; compilers stay far below.
const maxInlineDepth = 256

// Frames returns where the instruction at pc comes from: the inline stack, innermost function first, the function of
// the symbol table last. It is never empty for a pc of the section; where the file has no line for the pc, the one
// frame has only the function. A helper of the compiler's stands behind the functions that the user wrote and has no rows
// of its own; the last row before it is not its line.
func (c *Code) Frames(pc uint64) []Frame {
	f := c.FunctionAt(pc)
	if f == nil {
		return nil
	}
	seq, row := c.lines.row(pc)
	if row == nil || f.Kind == InternalFunction && row.address < f.Offset {
		return []Frame{{Function: f.Demangled, Symbol: f.Name}}
	}
	var frames []Frame
	for row.context != 0 && len(frames) < maxInlineDepth {
		name := c.lines.names[uint64(row.name)]
		frames = append(frames, seq.frame(row, name.symbol, name.demangled))
		row = &seq.rows[row.context-1]
	}
	frames = append(frames, seq.frame(row, f.Name, f.Demangled))
	if isPython(frames[0].File) {
		frames[0].Line -= min(c.lines.shiftAt(pc), frames[0].Line)
	}
	return frames
}

// Line returns the innermost frame of pc.
func (c *Code) Line(pc uint64) Frame {
	if frames := c.Frames(pc); len(frames) > 0 {
		return frames[0]
	}
	return Frame{}
}

func (s *lineSequence) frame(row *lineRow, symbol, demangled string) Frame {
	frame := Frame{Function: demangled, Symbol: symbol, Line: int(row.line)}
	if i := int(row.file) - 1; i >= 0 && i < len(s.files) {
		frame.File = s.files[i]
	}
	return frame
}

// isPython tells whether a source file is one of Python's.
func isPython(file string) bool { return path.Ext(file) == ".py" }

// row returns the innermost row of pc and its sequence, nil where the table has none.
func (t *lineTable) row(pc uint64) (*lineSequence, *lineRow) {
	i := sort.Search(len(t.sequences), func(i int) bool { return t.sequences[i].start > pc }) - 1
	if i < 0 || pc >= t.sequences[i].end {
		return nil, nil
	}
	s := &t.sequences[i]
	j := sort.Search(len(s.rows), func(j int) bool { return s.rows[j].address > pc }) - 1
	if j < 0 {
		return nil, nil
	}
	return s, &s.rows[j]
}

// readLines reads .debug_line, a series of units of DWARF line programs.
func (r *reader) readLines() error {
	const name = ".debug_line"
	index, ok := r.byName[name]
	if !ok {
		return nil
	}
	addresses, err := r.lineAddresses(index, name)
	if err != nil {
		return fmt.Errorf("section %s: %w", name, err)
	}
	b := lineBuilder{data: r.file.SectionData(index), addresses: addresses}
	if b.run(); b.err != nil {
		return fmt.Errorf("section %s: 0x%x: %w", name, b.at, b.err)
	}
	codes := b.finish()
	r.readShifts(codes)
	return r.nameInlined(codes)
}

// lineAddresses returns the function symbols that relocations put into a line table, by offset in it. The raw addresses
// are all zero: only the relocations tell the sections apart.
func (r *reader) lineAddresses(index int, name string) (map[uint64]lineAddress, error) {
	addresses := make(map[uint64]lineAddress)
	for i := range r.file.Sections {
		s := &r.file.Sections[i]
		if int(s.Info) != index || s.Name != ".rel"+name && s.Name != ".rela"+name {
			continue
		}
		list, err := r.relocations(i)
		if err != nil {
			return nil, err
		}
		for _, rel := range list {
			if code := r.codes[rel.symbol.section]; code != nil {
				addresses[rel.offset] = lineAddress{code, rel.symbol.value + uint64(rel.addend)}
			}
		}
	}
	return addresses, nil
}

// nameInlined reads the names of the inlined functions from .debug_str.
func (r *reader) nameInlined(codes []*Code) error {
	names := newStringTable(r.section(".debug_str"))
	all := make(map[uint64]inlineName)
	for _, code := range codes {
		code.lines.names = all
		for _, seq := range code.lines.sequences {
			for i := range seq.rows {
				if err := addName(all, names, &seq.rows[i]); err != nil {
					return fmt.Errorf("section .debug_str: %w", err)
				}
			}
		}
	}
	return nil
}

func addName(all map[uint64]inlineName, names *stringTable, row *lineRow) error {
	at := uint64(row.name)
	if _, ok := all[at]; ok || row.context == 0 {
		return nil
	}
	symbol, err := names.at(at)
	if err != nil {
		return err
	}
	all[at] = inlineName{symbol, Demangle(symbol)}
	return nil
}

// joinPath makes the path of a file in a directory of the line table. Paths may be in any encoding; what is not UTF-8
// or not printable is replaced.
func joinPath(dirs []string, dir uint64, name string) string {
	if dir != 0 && dir <= uint64(len(dirs)) && !path.IsAbs(name) {
		name = path.Join(dirs[dir-1], name)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, path.Clean(name))
}
