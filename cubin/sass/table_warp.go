package sass

import "slices"

// warpWideForms are exchanges between the lanes of a warp and reads of special registers.
func warpWideForms() []Form {
	f := func(op Op, opcode uint16, p Pipe, variable bool, operands []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: p, Variable: variable, Operands: operands, Mods: mods}
	}
	special := Slot{Name: "special register", Kind: KindSReg, Bits: Bits{72, 8}, Access: Reads}
	number := Slot{Name: "barrier", Kind: KindImm, Bits: Bits{54, 4}, Access: Reads}
	value := noReuse(regA(traits{width: wMatch}))
	vote := mod(VoteMode, 72, 2, &voteNames)
	ballot := rd(w1)
	ballot.Show = unlessPlain
	return slices.Concat(shuffleForms(), []Form{
		f(S2R, 0x919, PipeLSU, true, []Slot{rd(w1), special}),
		f(CS2R, 0x805, PipeALU, false, []Slot{rd(wSize), special}, mod(Size, 80, 1, &cs2rSizes)),
		f(VOTE, 0x806, PipeALU, false, []Slot{ballot, pd(always), pp()}, vote),
		f(MATCH, 0x3a1, PipeLSU, true, []Slot{pd(always), rd(w1), value},
			only(MatchMode, Bits{79, 1}, 0, MatchALL, ".ALL"), flag(MatchU64, 73, ".U64")),
		f(MATCH, 0x3a1, PipeLSU, true, []Slot{hidden(pd(always), false), rd(w1), value},
			only(MatchMode, Bits{79, 1}, 1, MatchANY, ".ANY"), flag(MatchU64, 73, ".U64")),
		f(B2R, 0x31c, PipeADU, true, []Slot{rd(w1), hidden(pd(always), false), number},
			only(B2RMode, Bits{78, 2}, 0, B2RBAR, "")),
		f(B2R, 0x31c, PipeADU, true, []Slot{rd(w1), pd(unlessPlain), hidden(number, false)},
			only(B2RMode, Bits{78, 2}, 1, B2RRESULT, ".RESULT")),
		f(B2R, 0x31c, PipeADU, true, []Slot{rd(w1), hidden(pd(always), false), hidden(number, false)},
			only(B2RMode, Bits{78, 2}, 2, B2RWARP, ".WARP")),
		f(R2B, 0x31e, PipeADU, true, []Slot{number, noReuse(regB("A", plain))},
			mod(B2RMode, 78, 2, &enum{text: []string{"", bad, ".WARP"}})).on(inAll &^ (in89 | in90)),
	})
}

// shuffleForms are SHFL with its lane and its clamp in registers or immediates.
func shuffleForms() []Form {
	mode := mod(ShflMode, 58, 2, &shflNames)
	lane := Slot{Name: "B", Kind: KindImm, Bits: Bits{53, 5}, Access: Reads}
	clamp := Slot{Name: "C", Kind: KindImm, Bits: Bits{40, 13}, Access: Reads}
	var forms []Form
	for _, v := range []struct {
		opcode uint16
		b, c   Slot
	}{
		{0x389, regB("B", plain), regC("C", plain)},
		{0x589, regB("B", plain), clamp},
		{0x989, lane, regC("C", plain)},
		{0xf89, lane, clamp},
	} {
		forms = append(forms, Form{Op: SHFL, Opcode: v.opcode, Archs: inAll, Pipe: PipeLSU, Variable: true,
			Mods: []ModField{mode}, Operands: []Slot{pd(always), rd(w1), regA(plain), v.b, v.c}})
	}
	return withoutReuse(forms)
}
