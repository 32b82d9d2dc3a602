package cubin

import (
	"bytes"
	"math"
	"slices"
	"sort"
)

// The sections that say how the PTX went into the code: its text, a line a string, of which the assembler leaves comments and
// directives for lines empty, and a line table of it.
const (
	ptxTextSection = ".nv_debug_ptx_txt"
	ptxLineSection = ".nv_debug_line_sass"
)

// A lineShift says from which address on how many lines the line table is too far down.
type lineShift struct {
	address uint64
	lines   int
}

// noShift is the shift of the line that opens a function's body, where the assembler's own instructions are said to come from. They have no
// row among the source lines, but that of the instruction before them.
const noShift = math.MaxInt

// shiftAt returns by how many lines the line of pc has to go back.
func (t *lineTable) shiftAt(pc uint64) int {
	if i := sort.Search(len(t.shifts), func(i int) bool { return t.shifts[i].address > pc }) - 1; i >= 0 {
		return t.shifts[i].lines
	}
	return 0
}

// readShifts finds the code whose lines are those of inline PTX that a Python compiler made. LLVM gives each line of inline PTX a line of
// its own, counted on from the statement that it belongs to (from llvm-project pull request 177718 on; Triton 3.9 has it). That is right
// where the user wrote these lines, one below the other. Triton writes its loads and stores so, of which each takes one statement: a load
// of four words stands three or four lines below its own, perhaps at another load. The cubin has the PTX's text, in which the place
// of a line within its block can be counted.
//
// A table of PTX lines that cannot be read leaves the lines as they are: nothing else depends on it.
func (r *reader) readShifts(codes []*Code) {
	text, index := r.section(ptxTextSection), r.byName[ptxLineSection]
	if len(text) == 0 || index == 0 || !anyPython(codes) {
		return
	}
	shifts := inlineShifts(text)
	addresses, err := r.lineAddresses(index, ptxLineSection)
	if err != nil {
		return
	}
	scratch := make(map[*Code]*Code)
	for at, a := range addresses {
		if scratch[a.code] == nil {
			scratch[a.code] = &Code{Name: a.code.Name, Insts: a.code.Insts, Address: a.code.Address}
		}
		addresses[at] = lineAddress{scratch[a.code], a.offset}
	}
	b := lineBuilder{data: r.file.SectionData(index), addresses: addresses}
	if b.run(); b.err != nil {
		return
	}
	b.finish()
	for code, ptx := range scratch {
		for _, seq := range ptx.lines.sequences {
			for _, row := range seq.rows {
				if i := int(row.line) - 1; i >= 0 && i < len(shifts) && shifts[i] != noShift {
					code.lines.shifts = append(code.lines.shifts, lineShift{row.address, shifts[i]})
				}
			}
			code.lines.shifts = append(code.lines.shifts, lineShift{seq.end, 0})
		}
	}
}

// anyPython tells whether any code has lines of Python.
func anyPython(codes []*Code) bool {
	for _, c := range codes {
		for _, s := range c.lines.sequences {
			if slices.ContainsFunc(s.files, isPython) {
				return true
			}
		}
	}
	return false
}

// inlineShifts returns for each line of a PTX text how many lines below its statement the .loc directive that holds for it points. Of
// these directives, and of the comments around inline PTX, only empty lines are left:
//
//	              .loc of the statement
//	              // begin inline asm
//	              .loc, unless the first line is predicated or no instruction
//	mov.u32 %r1, 0x0;
//	              .loc, a line further
//	mov.u32 %r2, 0x0;
//	@%p1 ld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ];
//	              end of the text
//	              // end inline asm
//	add.f32 	%r5, %r1, %r2;
//
// LLVM puts a tab behind the mnemonics of its own instructions, by which they are told apart from inline PTX. What comes behind a block has
// the line of the block's last directive until there is another one.
func inlineShifts(text []byte) []int {
	var (
		shifts         []int
		shift, inBlock int // of the last directive, and how many lines of the block have been seen, 0 outside
		empty          int // lines before this one
	)
	for line := range bytes.SplitSeq(text, []byte{0}) {
		if len(line) == 0 {
			empty++
			shifts = append(shifts, shift)
			continue
		}
		inline := !bytes.ContainsRune(line, '\t') && line[len(line)-1] != ':'
		switch {
		case inline && inBlock > 0 && empty <= 1:
			if empty == 1 {
				shift = inBlock
			}
			inBlock++
		case inline && inBlock > 0:
			if empty > 3 || empty == 3 && !bytes.ContainsRune([]byte("@{.}"), rune(line[0])) {
				shift = 0
			}
			inBlock = 1
		case inline && empty > 0:
			if empty > 1 {
				shift = 0
			}
			inBlock = 1
		case inBlock > 0 && empty > 2, inBlock == 0 && empty > 0:
			shift, inBlock = 0, 0
		default:
			inBlock = 0
		}
		empty = 0
		if string(line) == "{" {
			shifts = append(shifts, noShift)
		} else {
			shifts = append(shifts, shift)
		}
	}
	return shifts
}
