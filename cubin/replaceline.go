package cubin

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"sort"

	"gpa/cubin/sass"
)

// lineSections are the sections of line programs: of source lines, and of lines of the PTX.
var lineSections = [...]string{".debug_line", ".nv_debug_line_sass"}

// moveLines rewrites the sequences of the code in the line tables.
func (r *replacer) moveLines() error {
	for _, name := range lineSections {
		index := r.image.SectionIndex(name)
		if index == 0 {
			continue
		}
		if err := r.moveLineSection(index); err != nil {
			return fmt.Errorf("section %s: %w", name, err)
		}
	}
	return nil
}

// places returns the relocated places of a section that symbols of the code go into: offset → old address.
func (r *replacer) places(index int) map[uint64]uint64 {
	le, data := binary.LittleEndian, r.image.Sections[index].Data
	places := make(map[uint64]uint64)
	r.relocationsOf(index, func(s *ImageSection, entry []byte) {
		value, ok := r.inCode(le.Uint32(entry[12:]))
		offset := le.Uint64(entry)
		if !ok || offset > uint64(len(data)) || len(data)-int(offset) < 8 {
			return
		}
		if len(entry) == relaSize {
			places[offset] = value + le.Uint64(entry[16:])
		} else {
			places[offset] = value + le.Uint64(data[offset:])
		}
	})
	return places
}

// relocationsOf calls f for every relocation of a section.
func (r *replacer) relocationsOf(index int, f func(s *ImageSection, entry []byte)) {
	for _, s := range r.image.Sections {
		if s.Type != uint32(elf.SHT_REL) && s.Type != uint32(elf.SHT_RELA) || int(s.Info) != index {
			continue
		}
		size := s.entrySize()
		for at := 0; at+size <= len(s.Data); at += size {
			f(s, s.Data[at:at+size])
		}
	}
}

// moveLineSection rewrites one line table and moves its relocations.
func (r *replacer) moveLineSection(index int) error {
	section := r.image.Sections[index]
	scratch := &Code{Name: r.Code.Name, Insts: r.Code.Insts}
	b := lineBuilder{data: section.Data, addresses: make(map[uint64]lineAddress)}
	for place, pc := range r.places(index) {
		// A RELA relocation replaces what stands at its place, a REL one adds to it, as the builder does.
		b.addresses[place] = lineAddress{scratch, pc - binary.LittleEndian.Uint64(section.Data[place:])}
	}
	if b.run(); b.err != nil {
		return fmt.Errorf("0x%x: %w", b.at, b.err)
	}
	w := lineRewriter{old: section.Data}
	for i := range scratch.lines.sequences {
		w.replace(r, &scratch.lines.sequences[i])
	}
	w.copyTo(len(w.old))
	section.Data = w.out
	var err error
	r.relocationsOf(index, func(_ *ImageSection, entry []byte) {
		offset := binary.LittleEndian.Uint64(entry)
		at := sort.Search(len(w.moves), func(i int) bool { return w.moves[i].old > offset }) - 1
		if at < 0 {
			return
		}
		to := offset - w.moves[at].old + w.moves[at].new
		if symbol := binary.LittleEndian.Uint32(entry[12:]); err == nil {
			err = r.moveLineAddress(symbol, entry, section.Data, to)
		}
		binary.LittleEndian.PutUint64(entry, to)
	})
	return err
}

// moveLineAddress changes what a relocation adds to its symbol to name the new address of a sequence.
func (r *replacer) moveLineAddress(symbol uint32, entry, data []byte, place uint64) error {
	value, ok := r.inCode(symbol)
	if !ok || uint64(len(data)) < place+8 {
		return nil
	}
	field := data[place : place+8]
	if len(entry) == relaSize {
		field = entry[16:24]
	}
	to, err := r.moved(value + binary.LittleEndian.Uint64(field))
	if err != nil {
		return err
	}
	from := uint64(0)
	if r.image.Symbols[symbol].Info&0xf != uint8(elf.STT_SECTION) {
		if from, err = r.moved(value); err != nil {
			return err
		}
	}
	binary.LittleEndian.PutUint64(field, to-from)
	return nil
}

// A lineRewriter makes a line section from an old one and new sequences.
type lineRewriter struct {
	old, out []byte
	done     int // bytes of old that out has
	moves    []lineMove
}

// A lineMove says that bytes from old on, up to the next move, went to new.
type lineMove struct{ old, new uint64 }

// copyTo takes over the old bytes up to an offset.
func (w *lineRewriter) copyTo(end int) {
	w.moves = append(w.moves, lineMove{uint64(w.done), uint64(len(w.out))})
	w.out = append(w.out, w.old[w.done:end]...)
	w.done = end
}

// replace writes a sequence anew.
func (w *lineRewriter) replace(r *replacer, seq *lineSequence) {
	w.copyTo(seq.place + 8) // the address stays, its relocation moves it
	before, unit := len(w.out), w.unitAt(seq.unit.at)
	p := lineWriter{out: w.out, unit: seq.unit, seq: seq, numbers: make([]uint32, len(seq.rows)), state: lineRow{file: 1}, line: 1}
	p.state.address, p.last = r.entry[seq.start/sass.InstSize], -1
	p.code(r)
	w.out = p.out
	w.done = seq.to
	grown := len(w.out) - before - (seq.to - seq.place - 8)
	length := binary.LittleEndian.Uint32(w.out[unit:])
	binary.LittleEndian.PutUint32(w.out[unit:], uint32(int(length)+grown))
}

// unitAt is where a unit of the old section begins in the new one.
func (w *lineRewriter) unitAt(old int) int {
	i := sort.Search(len(w.moves), func(i int) bool { return w.moves[i].old > uint64(old) }) - 1
	return old - int(w.moves[i].old) + int(w.moves[i].new)
}

// A lineWriter writes the program of one sequence.
type lineWriter struct {
	out     []byte
	unit    lineUnit
	seq     *lineSequence
	numbers []uint32 // old row → number of the new row that says the same, 0 for none yet
	count   uint32   // rows written
	state   lineRow
	line    int64
	last    int // the old row that the last instruction has
}

// code writes the rows of the new instructions that stand for old ones of the sequence, and its end.
func (w *lineWriter) code(r *replacer) {
	for i := range r.Insts {
		pc := uint64(r.Insts[i].Old) * sass.InstSize
		if r.Insts[i].Old < 0 || pc < w.seq.start || pc >= w.seq.end {
			continue // an added instruction has the line of the one before
		}
		row := sort.Search(len(w.seq.rows), func(j int) bool { return w.seq.rows[j].address > pc }) - 1
		if f := r.Code.FunctionAt(pc); row >= 0 && f != nil && f.Kind == InternalFunction && w.seq.rows[row].address < f.Offset {
			continue // a helper of the compiler's without rows of its own keeps having none
		}
		if row >= 0 && row != w.last {
			w.row(row, max(uint64(i)*sass.InstSize, w.state.address))
			w.last = row
		}
	}
	end := r.size
	if w.seq.end < r.Code.Size() {
		end = r.entry[w.seq.end/sass.InstSize]
	}
	if end > w.state.address {
		w.advance(end)
	}
	w.out = append(w.out, 0, 1, lneEndSequence)
}

// row writes an old row at a new address, after the rows of the call sites around it where they have not come yet.
func (w *lineWriter) row(index int, address uint64) {
	old := &w.seq.rows[index]
	context := uint32(0)
	if old.context != 0 {
		if w.numbers[old.context-1] == 0 {
			w.row(int(old.context-1), address)
		}
		context = w.numbers[old.context-1]
	}
	if context != w.state.context || old.name != w.state.name {
		w.inlined(context, old.name)
	}
	if old.file != w.state.file {
		w.out = binary.AppendUvarint(append(w.out, lnsSetFile), uint64(old.file))
	}
	w.copyRow(int64(old.line)-w.line, address)
	w.state.file, w.line = old.file, int64(old.line)
	w.count++
	w.numbers[index] = w.count
}

// inlined says which call the following rows were inlined at.
func (w *lineWriter) inlined(context, name uint32) {
	operands := binary.AppendUvarint(binary.AppendUvarint([]byte{lneInlinedCall}, uint64(context)), uint64(name))
	w.out = append(binary.AppendUvarint(append(w.out, 0), uint64(len(operands))), operands...)
	w.state.context, w.state.name = context, name
}

// copyRow makes a row so many lines further at an address, with a special opcode where there is one.
func (w *lineWriter) copyRow(lines int64, address uint64) {
	u := &w.unit
	delta := address - w.state.address
	if line := lines - int64(u.lineBase); line >= 0 && line < int64(u.lineRange) && u.minInst > 0 && delta%u.minInst == 0 {
		if op := int64(delta/u.minInst)*int64(u.lineRange) + line + int64(u.opcodeBase); delta < 1<<8 && op <= 255 {
			w.out = append(w.out, byte(op))
			w.state.address = address
			return
		}
	}
	if lines != 0 {
		w.out = appendSLEB(append(w.out, lnsAdvanceLine), lines)
	}
	w.advance(address)
	w.out = append(w.out, lnsCopy)
}

// advance moves the address on.
func (w *lineWriter) advance(address uint64) {
	if delta := address - w.state.address; delta != 0 {
		w.out = binary.AppendUvarint(append(w.out, lnsAdvancePC), delta/max(w.unit.minInst, 1))
	}
	w.state.address = address
}

// appendSLEB writes a signed LEB128 number.
func appendSLEB(out []byte, v int64) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
