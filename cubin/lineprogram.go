package cubin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"
)

// Opcodes of DWARF line programs (DWARF 2 standard, section 6.2), and the two extended ones by which NVIDIA's compilers
// tell of inlining (named in LLVM's Dwarf.def).
const (
	lnsCopy            = 1
	lnsAdvancePC       = 2
	lnsAdvanceLine     = 3
	lnsSetFile         = 4
	lnsConstAddPC      = 8
	lnsFixedAdvancePC  = 9
	lneEndSequence     = 1
	lneSetAddress      = 2
	lneDefineFile      = 3
	lneInlinedCall     = 0x90 // ULEB number of the row of the call site, ULEB offset of the function's name
	lneSetFunctionName = 0x91 // ULEB offset of the function's name
)

var errLineEnd = errors.New("cut off")

// A lineAddress is the place that a relocated DW_LNE_set_address names.
type lineAddress struct {
	code   *Code
	offset uint64
}

// A lineBuilder runs the line programs of .debug_line. The first error stops it.
type lineBuilder struct {
	data      []byte
	at        int
	err       error
	addresses map[uint64]lineAddress
	paths     int // bytes of file names so far: a long directory may not be multiplied without bound

	unitEnd int
	lineUnit
	lengths []byte // number of operands of the standard opcodes, from 1 on
	dirs    []string
	files   []string

	code  *Code // of the sequence, nil where no relocation tells
	start uint64
	from  int // where the sequence begins in data
	place int // where its address stands
	state lineRow
	line  int64
	rows  []lineRow
	codes []*Code // with lines, in the order of their first sequence
}

// A lineUnit is what the header of a unit says of its opcodes.
type lineUnit struct {
	at         int // of the unit in the section
	minInst    uint64
	lineBase   int
	lineRange  int
	opcodeBase int
}

// run runs the line programs of all units.
func (b *lineBuilder) run() {
	for b.at < len(b.data) && b.err == nil {
		b.unit()
	}
}

// unit runs the line program of one unit. A unit of another DWARF version than 2 to 4 is passed over: its code has no
// lines.
func (b *lineBuilder) unit() {
	b.unitEnd, b.lineUnit.at = len(b.data), b.at
	length := uint64(b.u32())
	if length > uint64(len(b.data)-b.at) {
		b.fail(errLineEnd)
		return
	}
	b.unitEnd = b.at + int(length)
	if version := b.u16(); version < 2 || version > 4 {
		b.at = b.unitEnd
		return
	} else if !b.header(version) {
		return
	}
	b.reset()
	for b.at < b.unitEnd && b.err == nil {
		b.step()
	}
}

// header reads the rest of a unit's header.
func (b *lineBuilder) header(version uint16) bool {
	length := uint64(b.u32())
	if b.err == nil && length > uint64(b.unitEnd-b.at) {
		b.fail(errLineEnd)
	}
	program := b.at + int(length)
	b.minInst = uint64(b.u8())
	if version >= 4 {
		b.u8() // operations an instruction
	}
	b.u8() // whether rows are statements at first
	b.lineBase, b.lineRange, b.opcodeBase = int(int8(b.u8())), int(b.u8()), int(b.u8())
	if b.err == nil && (b.lineRange == 0 || b.opcodeBase == 0) {
		b.fail(fmt.Errorf("line range %d, first special opcode %d", b.lineRange, b.opcodeBase))
	}
	b.lengths = b.bytes(b.opcodeBase - 1)
	b.dirs, b.files = nil, nil
	for dir := b.string(); dir != ""; dir = b.string() {
		b.dirs = append(b.dirs, dir)
	}
	for name := b.string(); name != ""; name = b.string() {
		b.file(name)
	}
	if b.err == nil && b.at > program {
		b.fail(errors.New("header longer than it says"))
	}
	if b.err != nil {
		return false
	}
	b.at = program
	return true
}

// file adds a file of that name, whose directory, time and size follow.
func (b *lineBuilder) file(name string) {
	dir := b.uleb()
	b.uleb()
	b.uleb()
	file := joinPath(b.dirs, dir, name)
	if b.paths += len(file); b.paths > 64*len(b.data)+4096 {
		b.fail(errors.New("directories of unlikely length"))
		return
	}
	b.files = append(b.files, file)
}

// reset begins a sequence.
func (b *lineBuilder) reset() {
	b.code, b.start, b.rows, b.from = nil, 0, nil, b.at
	b.state, b.line = lineRow{file: 1}, 1
}

// step runs one opcode.
func (b *lineBuilder) step() {
	op := int(b.u8())
	switch {
	case op >= b.opcodeBase:
		op -= b.opcodeBase
		b.advance(uint64(op/b.lineRange), int64(b.lineBase+op%b.lineRange))
		b.row()
	case op == 0:
		b.extended()
	case op == lnsCopy:
		b.row()
	case op == lnsAdvancePC:
		b.advance(b.uleb(), 0)
	case op == lnsAdvanceLine:
		b.advance(0, b.sleb())
	case op == lnsSetFile:
		b.state.file = uint32(min(b.uleb(), math.MaxUint32))
	case op == lnsConstAddPC:
		b.advance(uint64((255-b.opcodeBase)/b.lineRange), 0)
	case op == lnsFixedAdvancePC:
		b.state.address += uint64(b.u16())
	default:
		for range b.lengths[op-1] {
			b.uleb()
		}
	}
}

// advance moves the state on by a number of instructions of the minimum length and by lines. Addresses that leave the
// section are found when a row is made.
func (b *lineBuilder) advance(instructions uint64, lines int64) {
	b.state.address += min(instructions, math.MaxUint32) * b.minInst
	b.line += lines
}

// extended runs an opcode that has its length before it.
func (b *lineBuilder) extended() {
	length := b.uleb()
	if b.err == nil && (length == 0 || length > uint64(b.unitEnd-b.at)) {
		b.fail(errLineEnd)
	}
	if b.err != nil {
		return
	}
	end := b.at + int(length)
	switch op := b.u8(); op {
	case lneEndSequence:
		b.endSequence(end)
	case lneSetAddress:
		b.setAddress(end)
	case lneDefineFile:
		b.file(b.string())
	case lneInlinedCall:
		b.inlined(b.uleb(), b.uleb())
	case lneSetFunctionName:
		b.state.name = uint32(min(b.uleb(), math.MaxUint32))
	}
	if b.err == nil && b.at > end {
		b.fail(errors.New("operands longer than their opcode says"))
	}
	if b.err == nil {
		b.at = end
	}
}

// setAddress begins the sequence of a function.
func (b *lineBuilder) setAddress(end int) {
	b.place = b.at
	place := b.addresses[uint64(b.at)]
	raw := b.bytes(end - b.at)
	if len(raw) != 8 {
		b.fail(fmt.Errorf("address of %d bytes", len(raw)))
		return
	}
	if len(b.rows) > 0 {
		b.fail(errors.New("second address in a sequence"))
		return
	}
	b.code = place.code
	b.state.address = binary.LittleEndian.Uint64(raw)
	if b.code != nil && b.code.Address != 0 && b.state.address >= b.code.Address { // the loader has put the address in
		b.state.address -= b.code.Address
	} else {
		b.state.address += place.offset
	}
	b.start = b.state.address
}

// inlined says where the following rows were inlined; 0, 0 ends it.
func (b *lineBuilder) inlined(context, name uint64) {
	b.state.context = uint32(min(context, math.MaxUint32))
	b.state.name = uint32(min(name, math.MaxUint32))
}

// row adds a row with the present state.
func (b *lineBuilder) row() {
	if b.code == nil || b.err != nil {
		return
	}
	b.state.line = uint32(max(0, min(b.line, math.MaxInt32)))
	last := b.start
	if len(b.rows) > 0 {
		last = b.rows[len(b.rows)-1].address
	}
	if b.state.address < last || b.state.address > b.code.Size() {
		b.fail(fmt.Errorf("row at 0x%x of section %s%s", b.state.address, prefixText, b.code.Name))
		return
	}
	b.rows = append(b.rows, b.state)
}

// checkInlined makes sure that the rows which the others were inlined at are there. They may come later, as rows are in the order of
// addresses. Compilers write rows that are inlined at themselves, by way of others too; who closes such a circle counts as not inlined.
func (b *lineBuilder) checkInlined() {
	known := make([]int, len(b.rows)) // the row, counted from one, from which on the ones above have been followed to their end
	for i := range b.rows {
		for at, below := uint32(i+1), i; at != 0; at = b.rows[below].context {
			if uint64(at) > uint64(len(b.rows)) {
				b.fail(fmt.Errorf("inlined at row %d of %d", at, len(b.rows)))
				return
			}
			if known[at-1] == i+1 {
				b.rows[below].context, b.rows[below].name = 0, 0
			}
			if known[at-1] != 0 {
				break
			}
			known[at-1], below = i+1, int(at-1)
		}
	}
}

// endSequence hands the rows to their section.
func (b *lineBuilder) endSequence(end int) {
	b.checkInlined()
	if b.code != nil && len(b.rows) > 0 && b.err == nil {
		if len(b.code.lines.sequences) == 0 {
			b.codes = append(b.codes, b.code)
		}
		b.code.lines.sequences = append(b.code.lines.sequences, lineSequence{
			start: b.start, end: b.state.address, rows: b.rows, files: b.files,
			unit: b.lineUnit, from: b.from, place: b.place, to: end,
		})
	}
	b.at = end
	b.reset()
}

// finish sorts the sequences of each section and returns the sections that have lines.
func (b *lineBuilder) finish() []*Code {
	for _, code := range b.codes {
		seqs := code.lines.sequences
		sort.SliceStable(seqs, func(i, j int) bool { return seqs[i].start < seqs[j].start })
	}
	return b.codes
}

// The readers of operands return zero values after the end of the unit, and note that.

func (b *lineBuilder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *lineBuilder) bytes(n int) []byte {
	if b.err != nil || n < 0 || n > b.unitEnd-b.at {
		b.fail(errLineEnd)
		return nil
	}
	b.at += n
	return b.data[b.at-n : b.at]
}

func (b *lineBuilder) u8() byte {
	if p := b.bytes(1); p != nil {
		return p[0]
	}
	return 0
}

func (b *lineBuilder) u16() uint16 {
	if p := b.bytes(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (b *lineBuilder) u32() uint32 {
	if p := b.bytes(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// string reads a string that ends with a zero byte.
func (b *lineBuilder) string() string {
	for i := b.at; i < b.unitEnd && b.err == nil; i++ {
		if b.data[i] == 0 {
			s := string(b.data[b.at:i])
			b.at = i + 1
			return s
		}
	}
	b.fail(errLineEnd)
	return ""
}

// uleb reads an unsigned LEB128 number; sleb a signed one.
func (b *lineBuilder) uleb() uint64 {
	v, _ := b.leb()
	return v
}

func (b *lineBuilder) sleb() int64 {
	v, bits := b.leb()
	if bits < 64 && v>>(bits-1)&1 != 0 {
		v |= math.MaxUint64 << bits
	}
	return int64(v)
}

// leb reads a LEB128 number and returns how many bits it was written with.
func (b *lineBuilder) leb() (value uint64, bits uint) {
	for {
		c := b.u8()
		if bits < 64 {
			value |= uint64(c&0x7f) << bits
		}
		bits += 7
		if c&0x80 == 0 || b.err != nil {
			return value, bits
		}
	}
}
