package sass

import "slices"

// withBlackwell returns rows and those of sm_100, sm_103 and sm_120: sm_90's, but for what is gone or has changed, and what is new.
// Uniform registers have 8 bits there wherever the word has room for them.
func withBlackwell(rows []Form) []Form {
	all := slices.Clone(rows)
	add := func(f Form) {
		wide, _ := f.widened()
		all = append(all, wide)
	}
	for i := range rows {
		f := rows[i]
		from := in90
		if f.Op == CCTL { // as before sm_90
			from = in89
		}
		if f.Archs = inBlackwell &^ goneIn(&rows[i]); rows[i].Archs&from == 0 || f.Archs == 0 {
			continue
		}
		if changed, ok := f.changed(); ok {
			for _, g := range changed {
				add(g)
			}
		} else if wide, ok := f.widened(); ok {
			all = append(all, wide)
		} else {
			all[i].Archs |= f.Archs
		}
	}
	for _, f := range slices.Concat(uniformLoadForms(), longIntegerForms(), uniformFloatForms(), blackwellExtremeForms(), packedFloatForms(), blackwellWideForms(), constantLineForms(), narrowProductForms(), scaledProductForms(), narrowUnpackForms(), sharedSwapForms(), nibbleForms(), tensorMemoryForms(), nextWorkForms()) {
		add(f)
	}
	return slices.DeleteFunc(all, func(f Form) bool { return f.Archs == 0 })
}

// goneIn returns the later architectures that a row of sm_90 has no successor on. Constants are operands of LDC and LDCU alone.
func goneIn(f *Form) ArchSet {
	constant := slices.ContainsFunc(f.Operands, func(s Slot) bool { return s.Kind == KindConst })
	if constant && f.Op != LDC || f.purpose == ofShaders || f.purpose == ofSystem {
		return inBlackwell
	}
	switch f.Op {
	case HGMMA, IGMMA, QGMMA, BGMMA, WARPGROUP, WARPGROUPSET, BMMA, ULDC, LDGMC, UCLEA, CCTLT, TEX, TLD, TLD4, TXD, TXQ, TMML, FOOTPRINT, SURED, SUATOM, SUQUERY:
		return inBlackwell
	case VABSDIFF, VABSDIFF4, VIADDMNMX, VIMNMX3, VHMNMX, IMNMX, UF2FP:
		return in120
	case DEPBAR:
		if f.Opcode == 0xd1a {
			return inBlackwell
		}
	case HFMA2:
		if f.Opcode&0x1ff == 0x035 {
			return inBlackwell
		}
	}
	return 0
}

// changed returns the rows that a row of sm_90 has become, where more than the width of uniform registers differs.
func (f Form) changed() ([]Form, bool) {
	switch f.Op {
	case IADD3:
		f = f.naming(1, 2)
		return []Form{f.on(in120), f.on(datacenterBlackwell).modified(off(Fixed, 76))}, true
	case UIADD3:
		return []Form{f.naming(1, 2)}, true
	case IMAD:
		return []Form{f.on(in120), f.on(datacenterBlackwell).modified(off(Fixed, 76))}, true
	case SHF:
		return []Form{f.on(in120), f.on(datacenterBlackwell).modified(off(Fixed, 77))}, true
	case FADD, FFMA:
		if form := f.Opcode & 0xe00; form != formRIR && form != formRRI {
			return []Form{f.modified(off(Fixed, 81))}, true
		}
	case IMMA:
		if slices.ContainsFunc(f.Mods, func(m ModField) bool { return m.Kind == MmaShape && m.names.value[len(m.names.value)-1] == Mma8816 }) {
			return nil, true
		}
		return f.sparseProducts()
	case HMMA:
		return f.sparseProducts()
	case F2FP:
		return f.packings(), true
	case DMMA:
		if f.Mods[0].names.text[0] == bad { // of the shapes one is left
			return nil, true
		}
	case FENCE:
		views := f.on(datacenterBlackwell).replaced(FenceView, mod(FenceView, 72, 2, &enum{text: []string{".S", ".G", ".T"}}))
		return []Form{f.on(in120).modified(off(Fixed, 73)), views}, true
	case LDSM:
		return []Form{f.modified(only(Fixed, Bits{74, 4}, 0, 0, "")).modified(off(Fixed, 80))}, true
	case STSM:
		return []Form{f.modified(only(Fixed, Bits{74, 4}, 0, 0, "")).modified(off(Fixed, 79))}, true
	case MOVM:
		return []Form{f.modified(only(Fixed, Bits{75, 3}, 0, 0, ""))}, true
	case STG:
		if slices.ContainsFunc(f.Mods, func(m ModField) bool { return m.Kind == Obscure }) {
			return nil, true
		}
	case UBLKCP:
		return []Form{f.modified(only(Fixed, Bits{84, 3}, 0, 0, ""))}, true
	case UBLKRED:
		return []Form{f.modified(off(Fixed, 85))}, true
	case UTMALDG:
		f = f.modified(off(Fixed, 83)).modified(off(Fixed, 84))
		pairs := f.on(datacenterBlackwell).modified(bothBlocks()).modified(off(Fixed, 86))
		return []Form{pairs, f.on(in120).modified(only(Fixed, Bits{85, 2}, 0, 0, ""))}, true
	case UTMASTG, UTMAPF:
		return []Form{f.modified(off(Fixed, 83)).modified(only(Fixed, Bits{84, 3}, 0, 0, ""))}, true
	case ARRIVES:
		return []Form{f.moved(Arvcnt, Bits{70, 2}, Bits{76, 2})}, true
	case JMP:
		return []Form{f.branch()}, true
	case VIMNMX:
		return f.extremes(), true
	case VIADD:
		packed := f.on(in120).replaced(Lanes, mod(Lanes, 73, 3, &blackwellAddLanes)).modified(off(Fixed, 72)).modified(off(Fixed, 80))
		return []Form{f.on(datacenterBlackwell), packed}, true
	case ISETP, UISETP:
		return f.longComparisons(), true
	case MOV, UMOV:
		if f.Opcode&0xe00 == formRIR {
			return nil, false
		}
		if f.Op == MOV && f.Opcode&0xe00 == formRUR {
			f = f.modified(off(Fixed, 88))
		}
		short := f.on(in120)
		short.Mods = append([]ModField{only(Size, Bits{80, 1}, 0, Size32, "")}, f.Mods...)
		return []Form{f.on(datacenterBlackwell), short}, true
	case BSSY, BSYNC:
		return []Form{f.modified(mod(Convergence, 72, 2, &convergenceNames))}, true
	case BREAK:
		return []Form{f.modified(mod(Convergence, 72, 1, &convergenceNames))}, true
	case R2UR:
		return []Form{f.modified(flag(Broadcast, 87, ".BROADCAST")).modified(off(Fixed, 86))}, true
	case SYNCS:
		return []Form{f.moved(Fixed, Bits{70, 2}, Bits{76, 2})}, true
	case LDGSTS:
		f = f.moved(Prefetch, Bits{71, 2}, Bits{72, 2}).moved(Addr64, Bits{70, 1}, Bits{83, 1})
		return []Form{f.replaced(Size, mod(Size, 74, 2, &enum{text: []string{"", ".64", ".128"}, value: []uint16{Size32, Size64, Size128}}))}, true
	case REDG:
		return []Form{f.moved(Descriptor, Bits{71, 1}, Bits{81, 1})}, true
	case ATOM, ATOMG, LDGMC:
		return []Form{f.atomicAddress()}, true
	case ATOMS:
		if f.Opcode&0x1ff == 0x18d { // sharedSwapForms has the one that returns a predicate
			return []Form{f.replaced(AtomOp, mod(AtomOp, 87, 2, &enum{text: castNames.text[:2], value: castNames.value[:2]}))}, true
		}
	case BRA:
		if f.Opcode == 0x547 { // compilers write it, unlike before
			f.opaque = false
		}
		return []Form{f.branch()}, true
	case SULD, SUST:
		return f.oneHeader(), true
	}
	return nil, false
}

// branch returns the row of a branch: a mask of lanes has 8 bits, and the bit that inverts it lies elsewhere.
func (f Form) branch() Form {
	f.Operands = slices.Clone(f.Operands)
	masked := false
	for k := range f.Operands {
		if s := &f.Operands[k]; s.Name == "lane mask" {
			s.Bits.N, s.Not, masked = 8, 82, true
		}
	}
	if !masked && slices.ContainsFunc(f.Mods, func(m ModField) bool { return m.Kind == BraMode && m.names.text[0] == bad }) {
		return f.modified(off(Fixed, 83))
	}
	return f
}

// sparseProducts are the rows of matrix products, where they are sparse: on sm_120 the register that says which elements there are has no
// place in the register-file cache.
func (f Form) sparseProducts() ([]Form, bool) {
	if len(f.Operands) < 6 {
		return nil, false
	}
	uncached := f.on(in120)
	uncached.Operands = slices.Clone(f.Operands)
	uncached.Operands[5].Sel = nil
	return []Form{f.on(datacenterBlackwell), uncached}, true
}

// narrowProductForms are QMMA on sm_120: those of sm_89 with one layout of matrices, which is not printed, and types of 6 and 4 bits beside.
func narrowProductForms() []Form {
	var forms []Form
	for _, f := range byteMatrixForms() {
		f.Operands = slices.Clone(f.Operands)
		for k := range f.Operands {
			f.Operands[k].Sel = nil
		}
		f.Mods = slices.DeleteFunc(slices.Clone(f.Mods), func(m ModField) bool { return m.Kind == Obscure })
		f = f.replaced(SrcType, narrowType(SrcType, 78, 82)).replaced(SrcType2, narrowType(SrcType2, 79, 84))
		forms = append(forms, f.modified(only(Fixed, Bits{73, 2}, 2, 0, "")).modified(off(Fixed, 81)).as(in120))
	}
	return forms
}

// narrowType is the field of a type of 8, 6 or 4 bits.
func narrowType(kind ModKind, low, high uint8) ModField {
	return ModField{Kind: kind, Bits: Bits{low, 1}, Bits2: Bits{high, 2}, names: &enum{text: []string{".E4M3", ".E5M2", bad, ".E3M2", ".E2M3", ".E2M1"},
		value: []uint16{TypeE4M3, TypeE5M2, 0, TypeE3M2, TypeE2M3, TypeE2M1}}}
}

// scaledProductForms are products of sm_120 whose blocks of elements have scales (PTX ISA, mma with .block_scale): QMMA of elements of 8 bits
// and less, 32 of which share a scale, and OMMA of those of 4 bits side by side. A uniform register says which bytes of which lanes the scales are.
func scaledProductForms() []Form {
	scaled := ModField{Kind: Scaled, names: &enum{text: []string{".SF"}, value: []uint16{1}}}
	p := product{a: w4, b: w2, d: w4}
	a, b := regA(traits{width: p.a}), regB("B", traits{width: p.b})
	a.Neg, b.Neg = 72, 63
	operands := append(p.operands(from86, a, b, regC("C", traits{width: p.d})),
		Slot{Name: "scales of A", Kind: KindReg, Bits: Bits{40, 8}, Access: Reads},
		Slot{Name: "scales of B", Kind: KindReg, Bits: Bits{52, 8}, Access: Reads, Sel: &ModField{Bits: Bits{51, 1}, names: &keptName}},
		Slot{Name: "selectors", Kind: KindUReg, Bits: Bits{60, 3}, Bits2: Bits{73, 5}, Access: Reads, Default: URZ})
	row := func(op Op, opcode uint16, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: in120, Pipe: PipeTensor, Operands: operands, Mods: append(mods, off(Sparse, 80), off(Fixed, 81), off(Fixed, 86), only(Fixed, Bits{48, 3}, 0, 0, ""))}
	}
	shape := func(shape uint16, text string) ModField {
		return ModField{Kind: MmaShape, names: &enum{text: []string{text}, value: []uint16{shape}}}
	}
	result := ModField{Kind: DstType, names: &enum{text: []string{".F32"}, value: []uint16{TypeF32}}}
	powers := ModField{Kind: ScaleType, names: &enum{text: []string{".E8"}, value: []uint16{TypeE8M0}}}
	four := func(kind ModKind, at Bits) ModField {
		return only(kind, at, 0, TypeE2M1, ".E2M1")
	}
	return []Form{
		row(QMMA, 0x47a, scaled, shape(Mma16832, ".16832"), result, narrowType(SrcType, 78, 82), narrowType(SrcType2, 79, 84), powers),
		row(OMMA, 0x47f, scaled, shape(Mma16864, ".16864"), result, four(SrcType, Bits{78, 1}), four(SrcType2, Bits{79, 1}),
			mod(ScaleType, 82, 1, &enum{text: []string{".E8", ".UE4M3"}, value: []uint16{TypeE8M0, TypeUE4M3}}), mod(ScaleBlock, 83, 1, &enum{text: []string{".4X", ""}}), only(Fixed, Bits{84, 2}, 0, 0, "")),
	}
}

// packings are the rows of F2FP, without those of TF32 and those that unpack 8-bit types to bfloat16; of the ones that unpack them to halves
// without types of 6 bits, which have a bit more, and of the ones that pack them only those that round to nearest.
func (f Form) packings() []Form {
	for _, m := range f.Mods {
		switch unpacks := m.Kind == SrcType && m.Bits == (Bits{73, 2}); {
		case m.Kind == DstType && slices.Contains(m.names.value, TypeTF32), m.Kind == Obscure && m.Bits == (Bits{76, 1}):
			return nil
		case unpacks:
			return []Form{f.modified(off(Fixed, 82))}
		}
		if m.Kind == DstType && slices.Contains(m.names.text, ".E4M3") {
			if k := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == SrcType }); f.Mods[k].Bits.N != 0 { // a pair of 16 bits
				f = f.replaced(SrcType, ModField{Kind: SrcType, Bits: f.Mods[k].Bits, Bits2: Bits{83, 1}, names: &enum{
					text: []string{bad, ".F16", bad, bad, bad, ".BF16"}, value: []uint16{0, TypeF16, 0, 0, 0, TypeBF16}}})
			}
			return []Form{f.modified(only(Fixed, Bits{80, 2}, 0, 0, "")).modified(off(Fixed, 85))}
		}
	}
	return []Form{f}
}

// narrowUnpackForms are F2FP that make halves of elements of 6 and 4 bits, a byte each and two a byte, and bfloat16 of those and of 8-bit
// numbers. The latter multiplies with two powers of two, in half of a register or of an immediate.
func narrowUnpackForms() []Form {
	bytes := ModField{Kind: SrcType, Bits: Bits{73, 1}, Bits2: Bits{82, 1}, names: &enum{
		text: []string{".E5M2", ".E4M3", ".E2M3", ".E3M2"}, value: []uint16{TypeE5M2, TypeE4M3, TypeE2M3, TypeE3M2}}}
	sixes := mod(SrcType, 73, 1, &enum{text: []string{".E2M3", ".E3M2"}, value: []uint16{TypeE2M3, TypeE3M2}})
	fours := only(SrcType, Bits{73, 2}, 1, TypeE2M1, ".E2M1")
	half, byte4 := ModField{Bits: Bits{88, 1}, names: &halfByte}, ModField{Bits: Bits{72, 1}, Bits2: Bits{88, 1}, names: &byteNames}
	unpacks := ModField{Kind: Fixed, names: &enum{text: []string{".UNPACK_B"}}}
	var forms []Form
	add := func(part ModField, of []Form) {
		for _, f := range of {
			f.Archs = inBlackwell
			f.Mods = append(f.Mods, only(Fixed, Bits{78, 4}, 0, 0, ""), off(Fixed, 83), only(Fixed, Bits{85, 3}, 0, 0, ""), only(Fixed, Bits{89, 2}, 1, 0, ""))
			if part.Bits2.N == 0 {
				f.Mods = append(f.Mods, off(Fixed, 72), on(Fixed, 74, ""))
			}
			for k := range f.Operands {
				if s := &f.Operands[k]; s.Name == "B" {
					s.Sel = &part
				}
			}
			forms = append(forms, f)
		}
	}
	f := Form{Op: F2FP, Opcode: 0x03e, Pipe: PipeALU}
	relu := flag(Relu, 75, ".RELU")
	for _, v := range []struct{ from, part ModField }{{sixes, half}, {fours, byte4}} {
		g := f
		g.Operands = []Slot{rd(w1), hidden(regA(plain), false)}
		g.Mods = []ModField{relu, only(DstType, Bits{76, 1}, 0, TypeF16, ".F16"), v.from, unpacks, off(Fixed, 77), on(Fixed, 82, "")}
		add(v.part, slices.DeleteFunc(unary(g, traits{imm: float32s}, hidden(noReuse(regC("C", plain)), false)), func(f Form) bool {
			return f.Operands[2].Kind == KindConst
		}))
	}
	scale := &ModField{Bits: Bits{24, 3}, names: &enum{text: []string{".H0", ".H1"}}}
	noA, inRegister, immediate, uniform := Slot{Name: "A", Kind: KindImm, Show: never}, regC("C", plain), imm32("C", float32s), uregB("C", plain)
	inRegister.Sel, immediate.Sel, uniform.Sel = scale, scale, scale
	for _, v := range []struct{ from, part ModField }{{bytes, half}, {fours, byte4}} {
		g := f
		g.Mods = []ModField{flag(Sat, 77, ".SATFINITE"), relu, only(DstType, Bits{76, 1}, 1, TypeBF16, ".BF16"), v.from, unpacks, only(Fixed, Bits{27, 5}, 0, 0, "")}
		if v.from.Bits2.N == 0 {
			g.Mods = append(g.Mods, on(Fixed, 82, ""))
		}
		u := g
		u.Mods = append(slices.Clone(g.Mods), on(UR, uniformBit, ""))
		add(v.part, []Form{
			g.with(0x63e, []Slot{rd(w1), noA, regB("B", plain), inRegister}), u.with(0x23e, []Slot{rd(w1), noA, uregB("B", plain), inRegister}),
			g.with(0xe3e, []Slot{rd(w1), noA, secondAtC(), immediate}), u.with(0x43e, []Slot{rd(w1), noA, secondAtC(), uniform}),
		})
	}
	return forms
}

// naming returns the row with operands printed whatever they are.
func (f Form) naming(operands ...int) Form {
	f.Operands = slices.Clone(f.Operands)
	for _, k := range operands {
		f.Operands[k].Show = always
	}
	return f
}

// modified returns the row with one more modifier behind the others.
func (f Form) modified(m ModField) Form {
	f.Mods = append(slices.Clone(f.Mods), m)
	return f
}

// moved returns the row with a modifier at another place, where it has it at the first.
func (f Form) moved(kind ModKind, from, to Bits) Form {
	f.Mods = slices.Clone(f.Mods)
	for k := range f.Mods {
		if m := &f.Mods[k]; m.Kind == kind && m.Bits == from {
			m.Bits = to
		}
	}
	return f
}

// convergenceNames are what BSSY, BSYNC and BREAK are told of the lanes that they will meet. The barrier works alike with each.
var convergenceNames = enum{text: []string{"", ".RELIABLE", ".RECONVERGENT"}}

// blackwellAddLanes are the lanes of VIADD on sm_120.
var blackwellAddLanes = enum{text: []string{".32", ".16x2", bad, bad, ".U8x4"}, value: []uint16{TypeS32, TypeS16x2, 0, 0, TypeU8x4}}

// extremes are the rows of VIMNMX: on sm_100 it always names the predicates that say which source it took, on sm_120 there are none,
// but lanes of bytes.
func (f Form) extremes() []Form {
	named, bytewise := f.on(datacenterBlackwell).naming(1, 2), f.on(in120).replaced(Lanes, mod(Lanes, 72, 3, &blackwellLanes))
	named.Operands[2].behind = false
	bytewise.Operands = slices.Clone(f.Operands)
	bytewise.Operands[1], bytewise.Operands[2] = hidden(pd(always), false), hidden(pe(always), false)
	return []Form{named, bytewise}
}

// blackwellLanes are the lanes of VIMNMX on sm_120.
var blackwellLanes = enum{text: []string{".U32", ".S32", ".U16x2", ".S16x2", ".U8x4", ".S8x4"},
	value: []uint16{TypeU32, TypeS32, TypeU16x2, TypeS16x2, TypeU8x4, TypeS8x4}}

// longComparisons are the rows of a comparison of integers: on sm_120 it may be of 64 bits.
func (f Form) longComparisons() []Form {
	short, long := f.on(in120), f.on(in120).replaced(U32, mod(U32, 73, 1, &enum{text: []string{".U64", ".S64"}, value: []uint16{1, 0}}))
	short.Mods = append(slices.Clone(f.Mods), only(Size, Bits{80, 1}, 0, Size32, ""))
	long.Mods = append(long.Mods, only(Size, Bits{80, 1}, 1, Size64, ""))
	long.Operands = slices.Clone(f.Operands)
	for k := range long.Operands {
		long.Operands[k].long()
	}
	return []Form{f.on(datacenterBlackwell), short, long}
}

// long makes a source 64 bits wide; an immediate is extended by its sign.
func (s *Slot) long() {
	switch s.Kind {
	case KindReg, KindUReg:
		s.Width = w2
	case KindImm:
		s.Format = signed64
	}
}

// atomicAddress returns the row of an atomic, which tells kinds of addresses apart by other bits. The offset behind uniform registers has
// 23 bits.
func (f Form) atomicAddress() Form {
	k := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Kind == KindMem })
	f.Operands = slices.Clone(f.Operands)
	if slices.ContainsFunc(f.Mods, func(m ModField) bool { return m.Kind == Addr64 }) {
		f.Operands[k].Bits.N = 23
	} else {
		zeroUnused(f.Operands)
	}
	described := Bits{76, 1}
	if slices.ContainsFunc(f.Mods, func(m ModField) bool { return m.Kind == AtomType && m.Bits.N == 4 }) { // the type takes the place
		described.Lo = 90
	}
	return f.moved(Addr64, Bits{70, 1}, Bits{63, 1}).moved(Descriptor, Bits{71, 1}, described)
}

// oneHeader returns the row of SULD or SUST whose header a uniform register names. Of other accesses to textures and surfaces the fields
// are not known.
func (f Form) oneHeader() []Form {
	bank := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Name == "bank" && s.Kind == KindUReg })
	if bank < 0 {
		return nil
	}
	f.Operands = slices.Clone(f.Operands)
	f.Operands[bank].Bits.N = 8
	f.Operands[bank+1] = Slot{Name: f.Operands[bank+1].Name, Kind: KindImm, Show: never}
	return []Form{f.modified(only(Fixed, Bits{48, 8}, 0xff, 0, "")).modified(off(Fixed, 58))}
}

// uniformLoadForms are LDCU, which reads constants into uniform registers. Unlike ULDC its latency varies.
func uniformLoadForms() []Form {
	sizes := enum{text: []string{".U8", ".S8", ".U16", ".S16", "", ".64", ".128"}}
	from := Slot{Name: "constant", Kind: KindConst, URegAt: Bits{24, 8}, Bits: Bits{37, 17}, Bank: Bits{54, 5}, Access: Reads, Width: wSize,
		Format: bytes, optional: true}
	return []Form{{Op: LDCU, Opcode: 0x7ac, Archs: inBlackwell, Pipe: PipeUniform, Variable: true, Operands: []Slot{toUniform(rd(wSize)), from},
		Mods: []ModField{mod(Size, 73, 3, &sizes), only(Fixed, Bits{80, 2}, 0, 0, ""), on(UR, uniformBit, "")}}}
}

// longIntegerForms are IADD, and moves and selections of 64 bits, which sm_120 has.
func longIntegerForms() []Form {
	size := mod(Size, 73, 1, &enum{text: []string{"", ".64"}, value: []uint16{Size32, Size64}})
	add := func(carry ModField, t traits, in Slot) []Form {
		return binary(Form{Op: IADD, Opcode: 0x035, Archs: from75, Pipe: PipeALU, Operands: []Slot{rd(wSize), pd(unlessPlain)},
			Mods: []ModField{size, carry}}, formRIR, formRCR, t, t, in)
	}
	long := traits{imm: signed64, width: w2}
	immediate, whole := imm32("B", signed64), imm32("B", hex)
	immediate.Bits.N, whole.Bits = 33, Bits{24, 64}
	lanes := Slot{Name: "lane mask", Kind: KindImm, Bits: Bits{72, 4}, Show: never, Default: 0xf}
	noLanes := Slot{Name: "lane mask", Kind: KindImm, Show: never}
	always64 := ModField{Kind: Size, names: &enum{text: []string{".64"}, value: []uint16{Size64}}}
	bound, marked := on(UR, uniformBit, ""), only(Size, Bits{80, 1}, 1, Size64, ".64")
	row := func(op Op, opcode uint16, p Pipe, operands []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Pipe: p, Operands: operands, Mods: mods}
	}
	d, a, b, u := rd(w2), regA(long), regB("B", long), uregB("B", long)
	ud, ua := toUniform(d), toUniform(a)
	forms := slices.Concat(
		add(off(X, 74), traits{neg: true, imm: signed64, width: wSize}, hidden(pp(), true)),
		add(on(X, 74, ".X"), traits{not: true, imm: signed64, width: wSize}, pp()),
		[]Form{
			row(MOV, 0x202, PipeALU, []Slot{d, b, lanes}, marked), row(MOV, 0xc02, PipeALU, []Slot{d, u, lanes}, marked, bound),
			row(MOV, 0x402, PipeALU, []Slot{d, whole, noLanes}, always64),
			row(UMOV, 0xc82, PipeUniform, []Slot{ud, u}, marked, bound), row(UMOV, 0x482, PipeUniform, []Slot{ud, whole}, always64, bound),
			row(SEL, 0x607, PipeALU, []Slot{d, a, b, pp()}, always64), row(SEL, 0x407, PipeALU, []Slot{d, a, immediate, pp()}, always64),
			row(SEL, 0xe07, PipeALU, []Slot{d, a, u, pp()}, always64, bound),
			row(USEL, 0x487, PipeUniform, []Slot{ud, ua, immediate, toUniform(pp())}, always64, bound),
		})
	forms = slices.DeleteFunc(forms, func(f Form) bool {
		return slices.ContainsFunc(f.Operands, func(s Slot) bool { return s.Kind == KindConst })
	})
	for k := range forms {
		forms[k].Archs = in120
	}
	return forms
}

// uniformFloatForms are arithmetic of single precision, minima of integers and conversions on the uniform datapath of sm_120.
func uniformFloatForms() []Form {
	type place struct {
		op   Op
		base uint16
	}
	of := map[Op]place{FADD: {UFADD, 0x054}, FFMA: {UFFMA, 0x055}, FMUL: {UFMUL, 0x056}, FSEL: {UFSEL, 0x051}, FSETP: {UFSETP, 0x053}}
	var forms []Form
	for _, f := range floatForms() {
		p, ok := of[f.Op]
		form := f.Opcode & 0xe00
		if !ok || form != formRRR && form != formRIR && form != formRRI {
			continue
		}
		g := f.uniform(p.op)
		if f.Op == FADD || f.Op == FFMA {
			if form == formRRR {
				g = g.modified(off(Fixed, 81))
			}
		}
		if g.Opcode = p.base | form; f.Op == FADD && form == formRRR {
			g.Operands[2] = toUniform(regC("B", float))
		}
		forms = append(forms, g)
	}
	for _, f := range logicForms() {
		if form := f.Opcode & 0xe00; f.Op == VIMNMX && (form == formRRR || form == formRIR) {
			g := f.extremes()[1].uniform(UVIMNMX)
			g.Opcode = 0x04a | form
			forms = append(forms, g)
		}
	}
	forms = append(forms, uniformConversionForms()...)
	for k := range forms {
		forms[k].Archs = in120
	}
	return forms
}

// uniformConversionForms are conversions between 32-bit integers and single precision.
func uniformConversionForms() []Form {
	bound, b := on(UR, uniformBit, ""), func(t traits) Slot { return uregB("B", t) }
	wide := func(lo uint8) ModField { return only(Fixed, Bits{lo, 2}, 2, 0, "") }
	row := func(op Op, opcode uint16, t traits, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Pipe: PipeUniform, Operands: []Slot{toUniform(rd(w1)), b(t)}, Mods: append(mods, bound)}
	}
	single := only(DstType, Bits{75, 3}, 2, TypeF32, "")
	named := single
	named.names = &enum{text: []string{bad, bad, ".F32"}, value: single.names.value}
	from := func(text ...string) ModField {
		return mod(SrcType, 74, 1, &enum{text: text, value: []uint16{TypeU32, TypeS32}})
	}
	to := mod(DstType, 72, 1, &enum{text: []string{".U32", ""}, value: []uint16{TypeU32, TypeS32}})
	return []Form{
		row(UI2F, 0x25a, plain, single, from(".U32", ""), mod(Round, 78, 2, &roundNames), wide(84)),
		row(UI2FP, 0x25e, plain, named, from(".U32", ".S32"), mod(Round, 78, 2, &roundNames), wide(84)),
		row(UF2I, 0x25c, traits{neg: true, abs: true}, mod(FTZ, 80, 1, &ftzNames), to, mod(Round, 78, 2, &integralName),
			flag(NTZ, 77, ".NTZ"), wide(75), wide(84), only(SrcType, Bits{}, 0, TypeF32, "")),
	}
}

// blackwellExtremeForms are the extreme of three numbers, and that of the lanes of a warp, which sm_100 has.
func blackwellExtremeForms() []Form {
	three := ternaryB(Form{Op: FMNMX3, Opcode: 0x076, Archs: from75, Pipe: PipeALU, Operands: []Slot{rd(w1)},
		Mods: []ModField{mod(FTZ, 80, 1, &ftzNames), flag(NaN, 81, ".NAN")}}, float, float, float, pp())
	forms := slices.DeleteFunc(three, func(f Form) bool { return f.Opcode&0xe00 == formRCR })
	extremes := enum{text: []string{".MAX", ".MAXABS", ".MIN", ".MINABS"}, value: []uint16{ReduxMAX, ReduxMAXABS, ReduxMIN, ReduxMINABS}}
	types := enum{text: []string{"", ".S32", ".F32"}, value: []uint16{TypeU32, TypeS32, TypeF32}}
	forms = append(forms, Form{Op: CREDUX, Opcode: 0x2cc, Pipe: PipeALU, Variable: true, Operands: []Slot{toUniform(rd(w1)), regA(plain)},
		Mods: []ModField{mod(ReduxOp, 78, 2, &extremes), mod(SrcType, 73, 2, &types), flag(NaN, 77, ".NAN")}})
	for k := range forms {
		forms[k].Archs = datacenterBlackwell
	}
	return forms
}

// sharedSwapForms are the compare and swap of shared memory that says in a predicate whether it swapped.
func sharedSwapForms() []Form {
	a := address(w1)
	a.Sel = &ModField{Bits: Bits{78, 2}, names: &addrScales}
	value, swap := noReuse(regB("B", traits{width: wAtom})), noReuse(regC("C", traits{width: wAtom}))
	types := enum{text: []string{"", bad, ".64"}, value: []uint16{TypeU32, 0, TypeU64}}
	done := pd(always)
	done.Name = "Rd"
	return []Form{memory(ATOMS, 0x58d, []Slot{done, a, value, swap}, only(AtomOp, Bits{87, 2}, 3, AtomCASTSPIN, ".CAST.SPIN"),
		mod(AtomType, 73, 3, &types), off(UR, uniformBit)).as(inBlackwell)}
}

// constantLineForms are CCTL of a line of the caches that LDCU reads, which tensor maps come through too: ptxas writes it before UTMACCTL
// where maps change (fence.proxy.tensormap).
func constantLineForms() []Form {
	line := Slot{Name: "address", Kind: KindMem, URegAt: Bits{24, 8}, Bits: Bits{32, 32}, Access: Reads, style: lineAddress, sign: signAlways}
	return []Form{memory(CCTL, 0x540, []Slot{line}, ModField{Kind: E, names: &enum{text: []string{".E"}, value: []uint16{1}}},
		only(CctlSpc, Bits{78, 3}, 2, 2, ".C"), ModField{Kind: Fixed, names: &enum{text: []string{".LDCU"}}},
		only(CctlOp, Bits{87, 4}, 3, CctlIV, ".IV"), flag(Deep, 86, ".DEEP"), on(UR, uniformBit, "")).as(inBlackwell)}
}

// nibbleForms are MOVM of matrices of 4-bit integers, which become bytes on the way: compilers make products of single bits and of 4-bit
// integers with them. What goes where is not published.
func nibbleForms() []Form {
	return printOnly(Form{Op: MOVM, Suffix: ".U4TO8.M832", Opcode: 0x23a, Archs: inBlackwell, Pipe: PipeLSU, Variable: true,
		Operands: []Slot{rd(w1), noReuse(regA(plain))}, Mods: []ModField{only(Fixed, Bits{75, 3}, 1, 1, ""), only(Fixed, Bits{78, 2}, 1, 1, "")}})
}

// as returns f for other architectures.
func (f Form) as(archs ArchSet) Form {
	f.Archs = archs
	return f
}

// widened returns the row with uniform registers of 8 bits where the two bits behind those of 6 bits are free.
func (f Form) widened() (wide Form, changed bool) {
	wide = f
	wide.prepare()
	free := func(at Bits) bool { return at.N == 6 && wide.mask.bits(Bits{at.Lo + 6, 2}) == 0 }
	operands := slices.Clone(f.Operands)
	for k := range operands {
		s := &operands[k]
		for _, at := range s.uniformFields() {
			if free(*at) {
				at.N, changed = 8, true
			}
		}
	}
	f.Operands = operands
	return f, changed
}

// uniformFields returns the fields of an operand that name uniform registers.
func (s *Slot) uniformFields() []*Bits {
	switch s.Kind {
	case KindUReg, KindDesc, KindGDesc, KindIDesc:
		return []*Bits{&s.Bits}
	case KindMem, KindConst, KindTMem:
		return []*Bits{&s.URegAt}
	}
	return nil
}

// nextWorkForms ask for a block or cluster of the grid that has not begun: where in shared memory the answer is to be, and behind that register the
// barrier that counts its bytes.
func nextWorkForms() []Form {
	result, barrier := uregAddress("result", Bits{24, 8}, Bits{}), uregAddress("barrier", Bits{24, 8}, Bits{})
	barrier.next = 1
	to := mod(Multicast, 72, 1, &enum{text: []string{".SELFCAST", ".BROADCAST"}})
	return []Form{{Op: UGETNEXTWORKID, Opcode: 0x3ca, Archs: inBlackwell, Pipe: PipeUniform, Variable: true, Operands: []Slot{result, barrier}, Mods: []ModField{to, on(UR, 91, "")}}}
}
