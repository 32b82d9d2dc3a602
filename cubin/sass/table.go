package sass

import (
	"slices"
	"sync"
)

// A table is the rows of all instructions, found by opcode and by name.
type table struct {
	forms    []Form
	byOpcode [1 << opcodeBits][]*Form
	byOp     [NumOps][]*Form
	ops      map[string]Op
	returns  [NumOps]bool // by opcode: whether a form writes a vector register
}

// forms returns the one table. It is built when it is first needed and never changes.
var theTable = sync.OnceValue(newTable)

// Forms returns the rows of the table, for tools that list or check them. They must not be changed.
func Forms() []Form { return theTable().forms }

func newTable() *table {
	t := &table{
		forms: slices.Concat(integerForms(), floatForms(), doubleForms(), halfForms(), tensorForms(), conversionForms(),
			memoryForms(), textureForms(), surfaceForms(), warpWideForms(), controlForms(), uniformForms(), asyncForms(), shaderForms(), systemForms(), rareForms()),
		ops: make(map[string]Op, NumOps),
	}
	for op := range NumOps {
		t.ops[op.String()] = op
	}
	t.forms = append(t.forms, bindlessForms(t.forms)...)
	t.forms = withBlackwell(t.forms)
	t.forms = slices.DeleteFunc(t.forms, func(f Form) bool { return f.Archs == 0 })
	for i := range t.forms {
		f := &t.forms[i]
		f.prepare()
		t.byOpcode[f.Opcode] = append(t.byOpcode[f.Opcode], f)
		t.byOp[f.Op] = append(t.byOp[f.Op], f)
		t.returns[f.Op] = t.returns[f.Op] || slices.ContainsFunc(f.Operands, func(s Slot) bool { return s.Kind == KindReg && s.Access&Writes != 0 })
	}
	return t
}

// prepare computes what follows from a row: which bits it covers, which bits have only one value, and which operands
// the register-file cache can keep.
func (f *Form) prepare() {
	f.mask = controlMask.or(Word{}.with(opcodeAt, opcodeAt.max()).with(guardAt, guardAt.max()))
	for i := range f.Mods {
		m := &f.Mods[i]
		f.mask = f.mask.or(m.cover())
		if code, single := m.names.single(); single {
			f.fixed = f.fixed.or(m.cover())
			f.value = m.put(f.value, code)
		}
	}
	f.bound = !f.mask.bit(uniformBit)
	for i := range f.Operands {
		s := &f.Operands[i]
		f.mask = f.mask.or(s.cover())
		if s.Reuse != 0 && s.Kind == KindReg && s.Show != never {
			f.reuse = append(f.reuse, uint8(i))
		}
	}
}

// uniformBit says that an instruction of sm_75 and later has an operand in uniform registers where it otherwise has a register,
// a constant or nothing.
const uniformBit = 91

// match reports whether w has the fixed bits of the row.
func (f *Form) match(arch Arch, w Word) bool {
	return w.and(f.fixed) == f.value && !(f.bound && arch >= SM75 && w.bit(uniformBit))
}

// cover returns a word with the bits of the field set.
func (m *ModField) cover() Word {
	return Word{}.with(m.Bits, m.Bits.max()).with(m.Bits2, m.Bits2.max())
}

// get returns the code in w, put returns w with a code.
func (m *ModField) get(w Word) uint64 { return w.bits(m.Bits) | w.bits(m.Bits2)<<m.Bits.N }
func (m *ModField) put(w Word, code uint64) Word {
	return w.with(m.Bits, code).with(m.Bits2, code>>m.Bits.N)
}

// single returns the code of an enum that has only one.
func (e *enum) single() (code uint64, ok bool) {
	n := 0
	for c, t := range e.text {
		if t != bad {
			code = uint64(c)
			n++
		}
	}
	return code, n == 1
}

// cover returns a word with the bits of the operand set.
func (s *Slot) cover() Word {
	var w Word
	for _, b := range []Bits{s.Bits, s.Bits2, s.Bits3, s.Base, s.Bank, s.URegAt} {
		w = w.with(b, b.max())
	}
	for _, bit := range []uint8{s.Neg, s.Abs, s.Not} {
		w = w.withBit(bit, true)
	}
	if s.Sel != nil {
		w = w.or(s.Sel.cover())
	}
	return w
}
