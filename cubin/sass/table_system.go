package sass

import "slices"

// systemForms are what trap handlers, drivers and debuggers have. Nothing executes them.
func systemForms() []Form {
	return append(purposed(ofSystem, slices.Concat(returnAddressForms(), barrierFileForms(), launchForms())),
		purposed(ofTextures, headerCacheForms())...)
}

// named is an operand that is one of a few registers with names.
func named(access Access, at Bits, names ...string) Slot {
	return Slot{Name: names[0], Kind: KindImm, Bits: at, Access: access, names: &enum{text: names}}
}

// returnAddressForms move the return address that traps keep, whole or one half.
func returnAddressForms() []Form {
	half := func(access Access) Slot { return named(access, Bits{31, 1}, "Rpc.LO", "Rpc.HI") }
	whole := named(Writes, Bits{}, "Rpc")
	row := func(opcode uint16, size string, operands []Slot, mods ...ModField) Form {
		width := ModField{Kind: Fixed, names: &enum{text: []string{size}}}
		return control(RPCMOV, opcode, operands, append([]ModField{width}, mods...)...)
	}
	uniform := on(UR, 91, "")
	constants, all := row(0xb52, ".32", []Slot{half(Writes), constant("B", plain)}), row(0xb54, ".64", []Slot{whole, constant("B", pair)})
	return slices.Concat(
		[]Form{
			row(0x352, ".32", []Slot{half(Writes), regB("B", plain)}),
			row(0x353, ".32", []Slot{rd(w1), half(Reads)}),
			row(0x952, ".32", []Slot{half(Writes), imm32("B", hex)}),
			row(0xd52, ".32", []Slot{half(Writes), uregB("B", plain)}, uniform).on(from75),
			row(0xd54, ".64", []Slot{whole, uregB("B", pair)}, uniform).on(from75),
		},
		splitTargets([]Form{row(0x954, ".64", []Slot{whole, absoluteTarget()})}),
		[]Form{
			row(0xb52, ".32", []Slot{half(Writes), codeConstant(in70)}).on(in70 | in75),
			constants.on(from80), constants.pooled(1), all, all.pooled(1),
		})
}

// pooled returns, for sm_75 and later, f with its constant, operand k, in the bank that a uniform register describes.
func (f Form) pooled(k int) Form {
	f.Operands = slices.Clone(f.Operands)
	f.Operands[k] = bankless(f.Operands[k], Bits{32, 6})
	f.Mods = append(slices.Clone(f.Mods), on(UR, uniformBit, ""))
	return f.on(from75)
}

// barrierFileForms are the moves to and from the barrier file that compilers do not write.
func barrierFileForms() []Form {
	short, long := only(Size, Bits{}, 0, Size32, ".32"), only(Size, Bits{}, 0, Size64, ".64")
	quad, uniform := flag(PQuad, 84, ".PQUAD"), on(UR, 91, "")
	register := func(lo, n uint8, access Access) Slot {
		return Slot{Name: "B register", Kind: KindConvBar, Bits: Bits{lo, n}, Access: access}
	}
	exit := named(Writes, Bits{}, "ATEXIT_PC")
	constants := control(BMOV, 0xb57, []Slot{exit, constant("B", pair)}, long)
	return slices.Concat(
		[]Form{
			control(BMOV, 0xf55, []Slot{register(16, 4, Writes), register(24, 6, Reads)}, short, flag(Clear, 84, ".CLEAR")),
			control(BMOV, 0xd56, []Slot{register(24, 6, Writes), uregB("B", plain)}, short, quad, uniform).on(from75),
			control(BMOV, 0x357, []Slot{exit, noReuse(regB("B", pair))}, long),
			control(BMOV, 0xd57, []Slot{exit, uregB("B", pair)}, long, uniform).on(from75),
		},
		splitTargets([]Form{control(BMOV, 0x957, []Slot{exit, absoluteTarget()}, long)}),
		[]Form{constants, constants.pooled(1)})
}

// launchForms are what sets up a warp.
func launchForms() []Form {
	mask := Slot{Name: "mask", Kind: KindImm, Bits: Bits{32, 28}, Access: Reads}
	return []Form{
		control(RTT, 0x94f, nil).on(in70 | in75),
		control(GETLMEMBASE, 0x3c0, []Slot{rd(w2)}),
		control(SETLMEMBASE, 0x3c1, []Slot{noReuse(regA(pair))}),
		control(SETCTAID, 0x31f, []Slot{noReuse(regA(plain))}, obscureNames(78, 2, ".X", ".Y", ".Z", "")),
		control(CSMTEST, 0x80d, []Slot{pd(always), pe(always), mask, pp()}, obscureNames(62, 2, bad, ".R", ".A", ".RA"),
			obscureNames(76, 3, ".F", ".CSM_TA", ".CSM_TR", ".CSM_MX", ".T", ".FCSM_TA", ".FCSM_TR", ".FCSM_MX"),
			mod(BoolOp, 74, 2, &boolNames)),
	}
}

// headerCacheForms are CCTLT, which invalidates the headers of textures, all or one.
func headerCacheForms() []Form {
	all, one := only(Obscure, Bits{85, 2}, 2, 1, ".IVALL"), only(Obscure, Bits{85, 2}, 1, 2, ".IVTH")
	row := func(opcode uint16, what ModField, operands ...Slot) Form {
		return memory(CCTLT, opcode, operands, what)
	}
	uniform := row(0xd91, one, uregB("header", plain))
	uniform.Mods = append(uniform.Mods, on(UR, 91, ""))
	return []Form{row(0x391, all), row(0x391, one, noReuse(regB("header", plain))),
		row(0xb91, one, boundHeader()...), uniform.on(from75)}
}
