package sass

import (
	"strings"
	"testing"
)

// TestRowsDisjoint holds that no word can have two forms.
func TestRowsDisjoint(t *testing.T) {
	for opcode, forms := range theTable().byOpcode {
		for i, f := range forms {
			for _, g := range forms[i+1:] {
				if f.Archs&g.Archs != 0 && !disjoint(f, g) {
					t.Errorf("opcode %#03x: two rows of %s match the same word", opcode, f.Op)
				}
			}
		}
	}
}

// disjoint reports whether a field tells the rows apart: one that is fixed in both, or one with no code in common.
func disjoint(f, g *Form) bool {
	if f.bound && g.fixed.bit(uniformBit) || g.bound && f.fixed.bit(uniformBit) { // which rows of sm_70 do not have
		return true
	}
	common := f.fixed.and(g.fixed)
	if f.value.and(common) != g.value.and(common) {
		return true
	}
	for i := range f.Mods {
		for j := range g.Mods {
			m, n := &f.Mods[i], &g.Mods[j]
			if m.Bits == n.Bits && m.Bits2 == n.Bits2 && !shareCode(m.names, n.names) {
				return true
			}
		}
	}
	return false
}

func shareCode(a, b *enum) bool {
	for c := range a.text {
		_, inA := a.lookup(uint64(c))
		if _, inB := b.lookup(uint64(c)); inA && inB {
			return true
		}
	}
	return false
}

// TestRows holds what every row must have: fields that do not lie in each other, spellings that a parser can tell apart,
// a pipe.
func TestRows(t *testing.T) {
	for i := range Forms() {
		f := &Forms()[i]
		if f.Pipe == PipeNone || f.Archs == 0 || f.Opcode >= 1<<opcodeBits {
			t.Errorf("%s %#03x: no pipe, no architecture or a bad opcode", f.Op, f.Opcode)
		}
		covered := controlMask.or(Word{Lo: 1<<16 - 1})
		for k := range f.Mods {
			m := &f.Mods[k]
			if both := covered.and(m.cover()); both != (Word{}) {
				t.Errorf("%s %#03x: modifier %d overlaps another field at %x", f.Op, f.Opcode, k, both)
			}
			covered = covered.or(m.cover())
			checkSpelling(t, f, m)
		}
		for k := range f.Operands {
			s := &f.Operands[k]
			if both := covered.and(s.cover()); both != (Word{}) && !sharesRegister(f, s) {
				t.Errorf("%s %#03x: operand %s overlaps another field at %x", f.Op, f.Opcode, s.Name, both)
			}
			covered = covered.or(s.cover())
		}
	}
}

// sharesRegister reports whether the operand is one that lies where another does: the thread count of BAR in the
// register of the barrier number, a descriptor behind another's uniform register.
func sharesRegister(f *Form, s *Slot) bool {
	return f.Opcode == 0x31d && s.Name == "threads" || s.next != 0
}

// checkSpelling reports codes of a field that print alike.
func checkSpelling(t *testing.T, f *Form, m *ModField) {
	t.Helper()
	seen := make(map[string]bool)
	for _, text := range m.names.text {
		if text == bad {
			continue
		}
		if seen[text] {
			t.Errorf("%s %#03x: two values spelled %q", f.Op, f.Opcode, text)
		}
		seen[text] = true
		if text != "" && !strings.HasPrefix(text, ".") {
			t.Errorf("%s %#03x: modifier %q without a dot", f.Op, f.Opcode, text)
		}
	}
}

// TestOperandPositions holds that an operand has the same position in every form of an opcode, so that consumers can
// rely on the list in op.go. Branches through a register and with a mask of lanes have one operand more, WARPSYNC.COLLECTIVE
// a target; sparse products have two behind the others, those with scales three, CCTL.RML2 of sm_89 one; accesses of 256 bits name two runs of registers; handles of
// textures and surfaces are last, and may be among other operands.
func TestOperandPositions(t *testing.T) {
	for op, forms := range theTable().byOp {
		switch Op(op) {
		case CALL, JMP, BMOV, BRA, WARPSYNC, TEX, TLD, TLD4, TXD, TXQ, SULD, SUST:
			continue
		}
		for _, f := range forms {
			if f.opaque || f.Opcode == 0x97e || f.Opcode == 0x97f { // nothing executes it, or it is of 256 bits
				continue
			}
			if len(f.Operands) != len(forms[0].Operands) && f.Mods[0].Kind != Sparse && f.Mods[0].Kind != Scaled && f.Op != CCTL {
				t.Errorf("%s %#03x: %d operands, %#03x has %d", f.Op, f.Opcode, len(f.Operands), forms[0].Opcode,
					len(forms[0].Operands))
				continue
			}
			for k := range forms[0].Operands {
				if got, want := f.Operands[k].Name, forms[0].Operands[k].Name; got != want {
					t.Errorf("%s %#03x: operand %d is %s, in %#03x it is %s", f.Op, f.Opcode, k, got, forms[0].Opcode, want)
				}
			}
		}
	}
}

// TestEveryOp holds that every opcode has a name of its own and a form.
func TestEveryOp(t *testing.T) {
	names := make(map[string]Op)
	for op := OpNone + 1; op < NumOps; op++ {
		if len(theTable().byOp[op]) == 0 {
			t.Errorf("%s has no form", op)
		}
		if other, ok := names[op.String()]; ok {
			t.Errorf("opcodes %d and %d are both named %q", op, other, op)
		}
		names[op.String()] = op
	}
}

// TestEveryModKind holds that every kind of modifier occurs in a row.
func TestEveryModKind(t *testing.T) {
	var seen [NumModKinds]bool
	for i := range Forms() {
		for _, m := range Forms()[i].Mods {
			seen[m.Kind] = true
		}
	}
	for kind := ModNone + 1; kind < NumModKinds; kind++ {
		if !seen[kind] {
			t.Errorf("no row has modifier %d", kind)
		}
	}
	if seen[ModNone] {
		t.Error("a row has a modifier without a kind")
	}
}
