package sass

import "slices"

// tensorMemoryForms are what sm_100 and sm_103 have for tensor memory (PTX ISA, tcgen05): its allocation, products that leave their sums
// there, copies, loads and stores. One thread issues a product for a block, or for two blocks of a cluster.
func tensorMemoryForms() []Form {
	forms := slices.Concat(tensorProductForms(), tensorAccessForms(), tensorAllocationForms())
	for i := range forms {
		forms[i].Archs = datacenterBlackwell
	}
	return forms
}

// tensorAddress is an address in tensor memory: a uniform register, and an offset where it has a place.
func tensorAddress(name string, at Bits, access Access) Slot {
	return Slot{Name: name, Kind: KindTMem, URegAt: at, Access: access}
}

// offset gives an address in tensor memory an offset.
func (s Slot) offset() Slot {
	s.Bits, s.Bits2 = Bits{40, 24}, Bits{72, 8}
	return s
}

// bothBlocks says that an instruction is for the two blocks of a pair (PTX ISA, .cta_group::2).
func bothBlocks() ModField { return flag(BlockPair, 85, ".2CTA") }

// tensorProductForms are products of matrices of a block, of half precision and TF32 (UTCHMMA), of numbers of 8 bits and less (UTCQMMA), of
// integers (UTCIMMA), and of those of 4 bits with scales for blocks of them (UTCOMMA). A is in shared memory or in tensor memory.
func tensorProductForms() []Form {
	keepA := &ModField{Bits: Bits{84, 1}, Bits2: Bits{86, 1}, names: flagNames(bitName{".A_REUSE", 1, 2}, bitName{".A_KEEP", 0, 1})}
	var kept enum // of B, in one of four buffers
	for code := range 16 {
		text := ""
		if code&8 != 0 {
			text += ".B_REUSE"
		}
		if code&4 != 0 {
			text += ".B_KEEP"
		}
		if code&3 != 0 {
			text += ".BUFFER" + string(rune('0'+code&3))
		}
		kept.text = append(kept.text, text)
	}
	shared := Slot{Name: "A", Kind: KindGDesc, Bits: Bits{24, 8}, Access: Reads, Width: w2, Sel: keepA}
	tensor := tensorAddress("A", Bits{24, 8}, Reads)
	tensor.Sel = keepA
	b := Slot{Name: "B", Kind: KindGDesc, Bits: Bits{32, 8}, Access: Reads, Width: w2}
	buffered := b
	buffered.Sel = &ModField{Bits: Bits{79, 4}, names: &kept}
	d, elements := tensorAddress("D", Bits{64, 8}, Reads), tensorAddress("elements", Bits{40, 8}, Reads)
	descriptor := Slot{Name: "descriptor", Kind: KindIDesc, Bits: Bits{40, 8}, next: 1, Access: Reads}
	mask := Slot{Name: "mask or scales", Kind: KindUReg, Bits: Bits{48, 8}, Access: Reads, Show: unlessPlain, Default: URZ}
	scales := tensorAddress("mask or scales", Bits{48, 8}, Reads)
	scales.Width = w2
	adds := toUniform(pp())
	scale, noScale := Slot{Name: "scale", Kind: KindImm, Bits: Bits{75, 4}, Access: Reads, Show: unlessPlain}, Slot{Name: "scale", Kind: KindImm, Show: never}
	kind := func(code int) ModField { return only(Fixed, Bits{72, 2}, code, 0, "") }
	var forms []Form
	row := func(op Op, opcode uint16, a, b, mask, scale Slot, mods ...ModField) {
		forms = append(forms, tensorForm(op, opcode, []Slot{a, b, d, elements, descriptor, mask, adds, scale}, mods...))
	}
	for _, from := range []struct {
		a              Slot
		opcode, scaled uint16
	}{{shared, 0x5ea, 0xdea}, {tensor, 0x9ea, 0xfea}} {
		shift := off(Fixed, 74)
		if from.a.Kind == KindTMem {
			shift = flag(RowShift, 74, ".ASHIFT")
		}
		for code, op := range []Op{0: UTCHMMA, 1: UTCIMMA, 3: UTCQMMA} {
			if op == OpNone {
				continue
			}
			plain, scale := []ModField{kind(code), off(Fixed, 63)}, scale
			if op != UTCHMMA {
				plain, scale = append(plain, only(Fixed, Bits{75, 4}, 0, 0, "")), noScale
			}
			row(op, from.opcode, from.a, b, mask, scale, append(slices.Clone(plain), on(BlockPair, 85, ".2CTA"), shift, only(Fixed, Bits{79, 5}, 0, 0, ""))...)
			row(op, from.opcode, from.a, buffered, mask, scale, append(slices.Clone(plain), off(Fixed, 85), flag(WeightStationary, 83, ".WS"), shift)...)
		}
		row(UTCQMMA, from.scaled, from.a, b, scales, noScale, kind(3), bothBlocks(), off(Fixed, 63), off(Fixed, 74), only(Fixed, Bits{75, 9}, 0, 0, ""))
		row(UTCOMMA, from.opcode, from.a, b, scales, noScale, kind(0), on(Fixed, 63, ""), bothBlocks(),
			mod(ScaleBlock, 62, 1, &enum{text: []string{".4X", ""}}), only(Fixed, Bits{74, 10}, 0, 0, ""))
	}
	return forms
}

// tensorAccessForms are loads and stores of tensor memory by the warps of a warpgroup, and copies from shared memory.
func tensorAccessForms() []Form {
	shape := ModField{Kind: TensorShape, Bits: Bits{81, 2}, Bits2: Bits{87, 1}, names: &enum{
		text:  []string{".16dp128bit", ".16dp256bit", "", ".16dp64bit", ".16dp32bit_t0_t15", ".16dp32bit_t16_t31"},
		value: []uint16{Tensor16x128, Tensor16x256, Tensor32x32, Tensor16x64, TensorLowerHalf, TensorUpperHalf}}}
	times := mod(TensorTimes, 83, 3, &enum{text: []string{"", ".x2", ".x4", ".x8", ".x16", ".x32", ".x64", ".x128"}, value: []uint16{1, 2, 4, 8, 16, 32, 64, 128}})
	from, to := tensorAddress("address", Bits{32, 8}, Reads).offset(), tensorAddress("address", Bits{64, 8}, Reads).offset()
	access := func(op Op, opcode uint16, packs string, operands ...Slot) Form {
		return tensorForm(op, opcode, operands, shape, times, flag(Packs, 80, packs), off(Fixed, 86))
	}
	copied := ModField{Kind: TensorCopy, Bits: Bits{83, 2}, Bits2: Bits{88, 1}, names: &enum{
		text:  []string{"", bad, ".4dp256bit", ".128dp128bit", ".2x64dp128bit_lw02_lw13", ".2x64dp128bit_lw01_lw23", ".4x32dp128bit"},
		value: []uint16{Copy128x256, 0, Copy4x256, Copy128x128, Copy64Alternate, Copy64Adjacent, Copy32}}}
	unpacks := mod(Unpacks, 80, 2, &enum{text: []string{"", ".U4x16P64", ".U6x16P32"}})
	source := Slot{Name: "source", Kind: KindGDesc, Bits: Bits{32, 8}, Access: Reads, Width: w2}
	at := tensorAddress("address", Bits{24, 8}, Reads)
	copying := tensorForm(UTCCP, 0x9e7, []Slot{at.offset(), source}, bothBlocks(), copied, unpacks, only(Fixed, Bits{86, 2}, 0, 0, ""))
	copying.Suffix = ".T.S"
	return []Form{
		access(LDTM, 0x9ee, ".PACK16BIT", rd(wTensor), from),
		access(STTM, 0x9ed, ".EXPAND16BIT", to, noReuse(regB("B", traits{width: wTensor}))),
		copying,
		tensorForm(UTCSHIFT, 0x9e6, []Slot{at.offset()}, bothBlocks(), on(Fixed, 80, ".DOWN"), only(Fixed, Bits{81, 4}, 0, 0, ""), only(Fixed, Bits{86, 2}, 0, 0, "")),
	}
}

// tensorForm is a form of the uniform pipe whose time is not fixed and whose registers are uniform.
func tensorForm(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
	return Form{Op: op, Opcode: opcode, Pipe: PipeUniform, Variable: true, Operands: operands, Mods: append(mods, on(UR, uniformBit, ""))}
}

// tensorAllocationForms find and free columns of tensor memory, and tell transaction barriers that products are complete.
func tensorAllocationForms() []Form {
	b := toUniform(noReuse(regB("B", plain)))
	ud := toUniform(rd(w1))
	barrier := uregAddress("barrier", Bits{24, 8}, Bits{})
	count := Slot{Name: "transactions", Kind: KindUReg, Bits: Bits{32, 8}, Access: Reads, Default: URZ}
	blocks := Slot{Name: "blocks", Kind: KindUReg, Bits: Bits{64, 8}, Access: Reads, Default: URZ, Show: unlessPlain}
	amount := Slot{Name: "amount", Kind: KindImm, Bits: Bits{32, 32}, Access: Reads}
	find := tensorForm(UTCATOMSWS, 0x5e3, []Slot{toUniform(pd(always)), ud, b}, bothBlocks(), ModField{Kind: Fixed, names: &enum{text: []string{".FIND_AND_SET"}}}, flag(Aligned, 75, ".ALIGN"))
	change := tensorForm(UTCATOMSWS, 0x9e3, []Slot{toUniform(hidden(pd(always), false)), ud, b}, bothBlocks(), mod(AtomOp, 87, 1, &enum{text: []string{".AND", ".OR"}, value: []uint16{AtomAND, AtomOR}}))
	counts := Form{Op: UVIRTCOUNT, Opcode: 0x84c, Suffix: ".DEALLOC.SMPOOL", Pipe: PipeUniform, Operands: []Slot{amount}}
	transactions, multicast := obscure(77, ".A0TX"), flag(Multicast, 75, ".MULTICAST")
	return []Form{find, change, counts,
		tensorForm(UTCBAR, 0x3e9, []Slot{barrier, count, blocks}, on(BlockPair, 85, ".2CTA"), transactions, multicast, off(Fixed, 76)),
		tensorForm(UTCBAR, 0x3e9, []Slot{barrier, count, blocks}, off(Fixed, 85), transactions, obscure(76, ".WAKEUP"), multicast)}
}
