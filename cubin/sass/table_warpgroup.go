package sass

import (
	"slices"
	"strconv"
)

// warpgroupForms are the multiply-accumulate of four warps (PTX wgmma): D of 64 rows in the registers of their 128 threads, B
// in shared memory, A there too or in registers.
func warpgroupForms() []Form {
	types := &enum{text: []string{".E4M3", ".E5M2"}, value: []uint16{TypeE4M3, TypeE5M2}}
	bytesOf := &enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}}
	result := mod(DstType, 75, 1, &enum{text: []string{".F16", ".F32"}, value: []uint16{TypeF16, TypeF32}})
	halves := mod(SrcType, 76, 2, &enum{text: []string{"", ".BF16", ".TF32"}, value: []uint16{TypeF16, TypeBF16, TypeTF32}})
	floats := []ModField{result, mod(SrcType, 76, 1, types), mod(SrcType2, 77, 1, types)}
	integers := []ModField{mod(SrcType, 76, 2, bytesOf), mod(SrcType2, 82, 2, bytesOf), flag(Sat, 75, ".SAT")}
	bits := []ModField{only(MmaOp, Bits{77, 2}, 2, MmaAND, ".AND"), on(Acc, 80, ".POPC")}
	// The codes of the shapes of IGMMA and BGMMA number the columns that they have, those of the others count them by eight.
	var all, some []uint16
	for n := uint16(8); n <= 256; n += 8 {
		if all = append(all, n); n <= 32 || n%16 == 0 {
			some = append(some, n)
		}
	}
	return slices.Concat(
		groupProduct{op: HGMMA, opcode: 0x1f0, columns: all, step: 1, bits: 7, depth: 16, signs: true, transposed: true}.rows(result, halves),
		groupProduct{op: HGMMA, opcode: 0x1f0, columns: all, step: 1, first: 32, bits: 7, depth: 8, signs: true, transposed: true}.rows(result, halves),
		groupProduct{op: HGMMA, opcode: 0x1f0, columns: all, step: 1, bits: 7, depth: 16, signs: true, transposed: true, sparse: true}.rows(result, halves),
		groupProduct{op: HGMMA, opcode: 0x1f0, columns: all, step: 1, first: 64, bits: 7, depth: 32, signs: true, transposed: true, sparse: true}.rows(result, halves),
		groupProduct{op: QGMMA, opcode: 0x1f3, columns: all, step: 1, bits: 6, depth: 32, signs: true}.rows(floats...),
		groupProduct{op: QGMMA, opcode: 0x1f3, columns: all, step: 1, first: 32, bits: 6, depth: 64, signs: true, sparse: true}.rows(floats...),
		groupProduct{op: IGMMA, opcode: 0x1f1, columns: some, step: 3, bits: 6, depth: 32}.rows(integers...),
		groupProduct{op: IGMMA, opcode: 0x1f1, columns: some, step: 3, first: 1, bits: 6, depth: 64, sparse: true}.rows(integers...),
		groupProduct{op: BGMMA, opcode: 0x1f2, columns: some, step: 1, bits: 6, depth: 256}.rows(bits...),
		groupSyncForms())
}

// A groupProduct is a depth of a multiply-accumulate of a warpgroup. The code of its shape with columns[i] is i*step+first.
type groupProduct struct {
	op          Op
	opcode      uint16
	columns     []uint16
	step, first int
	bits        uint8 // of the code
	depth       int
	signs       bool // A and B may be negated
	transposed  bool // B, and A in shared memory, may be transposed
	sparse      bool
}

// rows are those with A in shared memory and with A in registers.
func (p groupProduct) rows(mods ...ModField) []Form {
	shared := Slot{Name: "matrices", Kind: KindGDesc, Bits: Bits{24, 6}, Access: Reads, Width: w4}
	alone := Slot{Name: "matrices", Kind: KindGDesc, Bits: Bits{32, 6}, Access: Reads, Width: w4}
	switch {
	case p.transposed:
		shared.Sel = &ModField{Bits: Bits{61, 3}, Bits2: Bits{72, 1}, names: flagNames(bitName{".negA", 3, GroupNegateA}, bitName{".negB", 2, GroupNegateB}, bitName{".tnspA", 0, GroupTransposeA}, bitName{".tnspB", 1, GroupTransposeB})}
		alone.Sel = &ModField{Bits: Bits{62, 2}, names: flagNames(bitName{".negB", 1, GroupNegateB}, bitName{".tnspB", 0, GroupTransposeB})}
	case p.signs:
		shared.Sel = &ModField{Bits: Bits{63, 1}, Bits2: Bits{72, 1}, names: flagNames(bitName{".negA", 1, GroupNegateA}, bitName{".negB", 0, GroupNegateB})}
		alone.Sel = &ModField{Bits: Bits{63, 1}, names: flagNames(bitName{".negB", 0, GroupNegateB})}
	}
	none := Slot{Name: "A", Kind: KindReg, Show: never}
	return []Form{p.row(formRIR, none, shared, mods), p.row(formRUR, noReuse(regA(traits{neg: p.signs, width: w4})), alone, mods)}
}

// A bitName is a flag: its spelling, the number of its bit in the field, and its bit in the value.
type bitName struct {
	text  string
	bit   int
	value uint16
}

// flagNames spells a field of flags, which print in the order of the names.
func flagNames(names ...bitName) *enum {
	e := &enum{text: make([]string, 1<<len(names)), value: make([]uint16, 1<<len(names))}
	for code := range e.text {
		for _, n := range names {
			if code>>n.bit&1 != 0 {
				e.text[code] += n.text
				e.value[code] |= n.value
			}
		}
	}
	return e
}

// row is one of rows. Sparse products say which two of four elements of A there are; nvdisasm leaves the lane out where it is
// 0 but in HGMMA.
func (p groupProduct) row(form uint16, a, matrices Slot, mods []ModField) Form {
	group := Slot{Name: "group", Kind: KindImm, Bits: Bits{84, 3}, Show: unlessPlain, Default: 7,
		names: &enum{text: []string{"gsb0", bad, bad, bad, bad, bad, bad, ""}}}
	scale := toUniform(predSource("Pp", Bits{87, 3}, 90))
	scale.Show, scale.Inverted = unlessPlain, true
	elements, lane := Slot{Name: "elements", Kind: KindReg, Show: never}, Slot{Name: "lane", Kind: KindImm, Show: never}
	kind := []ModField{off(Sparse, 73)}
	switch {
	case p.op == BGMMA: // of which there are no sparse ones
		kind = nil
	case p.sparse:
		elements.Bits, elements.Access, elements.Show = Bits{40, 8}, Reads, always
		if lane.Bits, lane.Access, lane.Show = (Bits{48, 2}), Reads, unlessPlain; p.op == HGMMA {
			lane.Show = always
		}
		kind = []ModField{on(Sparse, 73, ".SP"), obscure(74, ".REGOFFSET")}
	}
	return Form{Op: p.op, Opcode: p.opcode | form, Archs: in90, Pipe: PipeTensor,
		Operands: []Slot{rd(wGroup), a, matrices, noReuse(regC("C", traits{width: wGroup})), scale, elements, lane, group},
		Mods:     slices.Concat(kind, []ModField{p.shape()}, mods, []ModField{on(UR, uniformBit, "")})}
}

// shape is the field of the columns and the depth.
func (p groupProduct) shape() ModField {
	last := (len(p.columns)-1)*p.step + p.first
	e := &enum{text: slices.Repeat([]string{bad}, last+1), value: make([]uint16, last+1)}
	for i, n := range p.columns {
		code := i*p.step + p.first
		e.text[code], e.value[code] = ".64x"+strconv.Itoa(int(n))+"x"+strconv.Itoa(p.depth), n
	}
	return mod(GmmaN, 53, p.bits, e)
}

// groupSyncForms order the registers of a warpgroup's threads and what it multiplies.
func groupSyncForms() []Form {
	group := Slot{Name: "group", Kind: KindImm, Bits: Bits{84, 3}, names: &enum{text: []string{"gsb0"}}}
	mode := func(code int, value uint16, text string) ModField {
		return only(GroupMode, Bits{79, 2}, code, value, text)
	}
	count := Slot{Name: "count", Kind: KindImm, Bits: Bits{72, 3}, Access: Reads}
	sync := func(group, count Slot, mods ...ModField) Form {
		return control(WARPGROUP, 0x9c5, []Slot{group, count}, mods...).on(in90)
	}
	noGroup, noCount := Slot{Name: "group", Kind: KindImm, Show: never}, Slot{Name: "count", Kind: KindImm, Show: never}
	set := func(group Slot, which ModField) Form {
		value := Slot{Name: "value", Kind: KindUReg, Bits: Bits{32, 6}, Access: Reads, Default: URZ}
		f := control(WARPGROUPSET, 0xd5e, []Slot{value, group}, which, on(UR, uniformBit, "")).on(in90)
		f.opaque = true
		return f
	}
	return []Form{sync(noGroup, noCount, mode(0, 0, ".ARRIVE")), sync(noGroup, noCount, mode(1, 1, ".WAIT")),
		sync(group, count, mode(2, 2, ".DEPBAR"), on(LE, 47, ".LE")),
		set(noGroup, only(Fixed, Bits{79, 1}, 0, 0, ".AC")), set(group, only(Fixed, Bits{79, 1}, 1, 1, ".SB"))}
}
