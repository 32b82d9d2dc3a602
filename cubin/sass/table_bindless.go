package sass

import "slices"

// bindlessForms returns, for rows of sm_75 and later with a constant, rows whose constant lies in a bank that a uniform
// register describes, as graphics code has them: cx[UR4][0x10].
func bindlessForms(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		k := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Kind == KindConst })
		if k < 0 || f.Archs&from75 == 0 || !f.mayPool() || f.Operands[k].URegAt.N != 0 {
			continue
		}
		f = f.on(from75)
		f.Operands = slices.Clone(f.Operands)
		at := Bits{32, 6}
		if f.Op == ULDC {
			at = Bits{24, 6}
		}
		f.Operands[k] = bankless(f.Operands[k], at)
		f.Mods = slices.DeleteFunc(slices.Clone(f.Mods), func(m ModField) bool { return m.Kind == UR })
		f.Mods = append(f.Mods, on(UR, uniformBit, ""))
		all = append(all, f)
	}
	return printOnly(all...)
}

// mayPool reports whether a row with a constant has such a row beside it: branches, LDC and what is not for computing have not,
// or name theirs themselves.
func (f *Form) mayPool() bool {
	switch f.Op {
	case BMOV, WARPSYNC, NANOSLEEP:
		return f.purpose == ""
	case LDC:
		return false
	}
	return f.purpose == "" && f.Pipe != PipeCBU
}

// bankless returns a constant that lies in the bank that the uniform register at a place describes.
func bankless(c Slot, at Bits) Slot {
	c.Bank, c.Descriptor, c.URegAt = Bits{}, true, at
	return c
}
