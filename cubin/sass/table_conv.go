package sass

import "slices"

// conversionForms are the conversions between number formats. The opcodes with bit 4 set have a 64-bit type on one
// side. A field of two bits holds the logarithm of a type's bytes: 0 for 8 bits to 3 for 64.
func conversionForms() []Form {
	return slices.Concat(floatToFloat(), floatToInt(), intToFloat(), floatToIntegral(), packForms())
}

// A numberType is one side of a conversion.
type numberType struct {
	size   int // logarithm of the bytes
	typ    uint16
	text   string
	signed bool // an integer type with a sign
}

var (
	half16   = numberType{1, TypeF16, ".F16", false}
	single32 = numberType{2, TypeF32, ".F32", false}
	double64 = numberType{3, TypeF64, ".F64", false}
	brain16  = numberType{4, TypeBF16, ".BF16", false} // its code has a bit more
)

// unprinted returns t with no text, as the usual type of a conversion is.
func (t numberType) unprinted() numberType {
	t.text = ""
	return t
}

// immediate returns how an immediate of the type reads.
func (t numberType) immediate() format {
	switch t.typ {
	case TypeF64:
		return float64s
	case TypeF16:
		return float16
	case TypeBF16:
		return bfloat16
	}
	return float32s
}

// source returns the traits and the selector of a floating-point source of the type.
func (t numberType) source() (traits, *enum) {
	in := traits{neg: true, abs: true, width: wSrc, imm: t.immediate()}
	if t.typ == TypeF16 || t.typ == TypeBF16 {
		return in, &halfByte
	}
	return in, nil
}

// conversion expands one pair of types into its forms; wide says that one of them has 64 bits.
func conversion(f Form, wide bool, t traits, sel *enum) []Form {
	f.Archs, f.Pipe, f.Variable = inAll, PipeXU, true
	f.Operands = []Slot{rd(wDst)}
	if wide {
		f.Opcode += 0x00c
	}
	forms := withoutReuse(unary(f, t))
	for i := range forms {
		if src := &forms[i].Operands[1]; sel != nil && src.Kind != KindImm {
			src.Sel = &ModField{Bits: Bits{60, 2}, names: sel}
		}
	}
	return forms
}

// dstField and srcField are the size fields of a floating-point destination and source.
func dstField(t numberType) ModField { return only(DstType, t.field(75), t.size, t.typ, t.text) }
func srcField(t numberType) ModField { return only(SrcType, t.field(84), t.size, t.typ, t.text) }

func (t numberType) field(at uint8) Bits {
	if t.size > 3 {
		return Bits{at, 3}
	}
	return Bits{at, 2}
}

func floatToFloat() []Form {
	var forms []Form
	for _, p := range []struct{ dst, src numberType }{
		{half16, single32}, {single32, half16}, {half16, double64}, {single32, double64}, {double64, half16}, {double64, single32},
	} {
		t, sel := p.src.source()
		f := Form{Op: F2F, Opcode: 0x104, Mods: []ModField{mod(FTZ, 80, 1, &ftzNames), dstField(p.dst), srcField(p.src),
			mod(Round, 78, 2, &roundNames)}}
		forms = append(forms, conversion(f, p.dst.size == 3 || p.src.size == 3, t, sel)...)
	}
	brain := Form{Op: F2F, Opcode: 0x104, Mods: []ModField{mod(FTZ, 80, 1, &ftzNames),
		only(DstType, Bits{75, 3}, 4, TypeBF16, ".BF16"), srcField(single32), mod(Round, 78, 2, &roundNames)}}
	in, _ := single32.source()
	for _, f := range conversion(brain, false, in, nil) {
		forms = append(forms, f.on(from80))
	}
	for _, p := range []struct{ dst, src numberType }{{half16, brain16}, {single32, brain16}, {double64, brain16}, {brain16, half16}, {brain16, double64}} {
		t, sel := p.src.source()
		f := Form{Op: F2F, Opcode: 0x104, Mods: []ModField{mod(FTZ, 80, 1, &ftzNames), dstField(p.dst), srcField(p.src), mod(Round, 78, 2, &roundNames)}}
		for _, f := range conversion(f, p.dst.size == 3 || p.src.size == 3, t, sel) {
			forms = append(forms, f.on(in90))
		}
	}
	return forms
}

func floatToIntegral() []Form {
	var forms []Form
	for _, n := range []numberType{half16, single32.unprinted(), double64, brain16} {
		t, sel := n.source()
		f := Form{Op: FRND, Opcode: 0x107, Mods: []ModField{mod(FTZ, 80, 1, &ftzNames), dstField(n),
			srcField(n.unprinted()), mod(Round, 78, 2, &integralName)}}
		rows := conversion(f, n.size == 3, t, sel)
		for k := range rows {
			if n == brain16 {
				rows[k].Archs = in90
			}
		}
		forms = append(forms, rows...)
	}
	return forms
}

// The integer types. The usual one, S32, is not printed.
var integerTypes = []numberType{
	{0, TypeU8, ".U8", false}, {0, TypeS8, ".S8", true},
	{1, TypeU16, ".U16", false}, {1, TypeS16, ".S16", true},
	{2, TypeU32, ".U32", false}, {2, TypeS32, "", true},
	{3, TypeU64, ".U64", false}, {3, TypeS64, ".S64", true},
}

// integerField is the field of an integer type: its signedness in one bit, its size in two others.
func integerField(kind ModKind, sign uint8, size Bits, t numberType) ModField {
	code := t.size << 1
	if t.signed {
		code |= 1
	}
	f := only(kind, Bits{sign, 1}, code, t.typ, t.text)
	f.Bits2 = size
	return f
}

func floatToInt() []Form {
	var forms []Form
	for _, dst := range integerTypes {
		for _, src := range []numberType{half16, single32.unprinted(), double64} {
			t, sel := src.source()
			f := Form{Op: F2I, Opcode: 0x105, Mods: []ModField{mod(FTZ, 80, 1, &ftzNames),
				integerField(DstType, 72, Bits{75, 2}, dst), srcField(src), mod(Round, 78, 2, &integralName),
				flag(NTZ, 77, ".NTZ")}}
			forms = append(forms, conversion(f, dst.size == 3 || src.size == 3, t, sel)...)
		}
	}
	return forms
}

func intToFloat() []Form {
	var forms []Form
	for _, src := range integerTypes {
		for _, dst := range []numberType{half16, single32.unprinted(), double64} {
			t := traits{width: wSrc}
			if src.signed {
				t.imm = signed
			}
			f := Form{Op: I2F, Opcode: 0x106, Mods: []ModField{dstField(dst),
				integerField(SrcType, 74, Bits{84, 2}, src), mod(Round, 78, 2, &roundNames)}}
			sel := map[int]*enum{0: &byteNames, 1: &halfByte}[src.size]
			expanded := conversion(f, src.size == 3 || dst.size == 3, t, sel)
			if sel != nil { // narrow types have no immediates
				expanded = slices.DeleteFunc(expanded, func(f Form) bool { return f.Operands[1].Kind == KindImm })
			}
			forms = append(forms, expanded...)
		}
	}
	return forms
}

// packForms are conversions at full rate: of two single-precision numbers to a packed pair of halves (sm_80 and later),
// of an integer to single precision (sm_86 and later).
func packForms() []Form {
	clamp := func(archs ArchSet, saturations ...ModField) []Form { // C has no half selector here
		types := &enum{text: []string{".U8", ".S8", ".U16", ".S16"}, value: []uint16{TypeU8, TypeS8, TypeU16, TypeS16}}
		source := ModField{Kind: SrcType, names: &enum{text: []string{".S32"}, value: []uint16{TypeS32}}}
		saturating := ModField{Kind: Fixed, names: &enum{text: []string{".SAT"}}}
		f := Form{Archs: archs, Pipe: PipeALU, Operands: []Slot{rd(w1)}, Mods: []ModField{mod(DstType, 76, 2, types), source, saturating}}
		pair := f
		f.Op, f.Opcode, pair.Op, pair.Opcode = I2I, 0x038, I2IP, 0x039
		packed := &enum{text: append(slices.Clone(types.text), ".U2", ".S2", ".U4", ".S4"),
			value: append(slices.Clone(types.value), TypeU2, TypeS2, TypeU4, TypeS4)}
		pair.Mods = slices.Concat([]ModField{mod(DstType, 76, 3, packed), source}, saturations)
		c := regC("C", plain)
		c.Sel = &ModField{Bits: Bits{72, 2}, names: &enum{text: []string{"", ".H1", ".24", ".28"}}} // bits of C
		return slices.Concat(unary(f, signedIn), binary(pair, formRIR, formRCR, plain, signedIn, c))
	}
	single := func(code int, typ uint16, text string, t traits) []Form {
		return unary(Form{Op: I2FP, Opcode: 0x045, Archs: from86, Pipe: PipeALU, Operands: []Slot{rd(w1)}, Mods: []ModField{
			only(DstType, Bits{75, 2}, 2, TypeF32, ".F32"), only(SrcType, Bits{74, 1}, code, typ, text), mod(Round, 78, 2, &roundNames),
			only(SrcType2, Bits{84, 2}, 2, TypeNone, "")}}, t)
	}
	return slices.Concat(narrowForms(), clamp(in75|in80, ModField{Kind: Sat, names: &enum{text: []string{".SAT"}, value: []uint16{1}}}),
		clamp(in86|in89, mod(Sat, 74, 2, &enum{text: []string{".SAT", "", ".SATRELU"}, value: []uint16{1, 0, 2}})), clamp(in90, mod(Sat, 74, 2, &enum{text: []string{"", ".SAT", ".SATRELU"}})),
		single(0, TypeU32, ".U32", plain), single(1, TypeS32, ".S32", signedIn))
}

// narrowForms are F2FP: two single-precision numbers become a packed pair, or the halves of a pair of 8-bit numbers become
// halves (sm_89 and sm_90).
func narrowForms() []Form {
	round := mod(Round, 79, 3, &enum{text: []string{"", bad, bad, ".RZ"}})
	relu, finite := flag(Relu, 75, ".RELU"), flag(Sat, 77, ".SATFINITE")
	constant := func(kind ModKind, value uint16, text string) ModField {
		return ModField{Kind: kind, names: &enum{text: []string{text}, value: []uint16{value}}}
	}
	f := Form{Op: F2FP, Opcode: 0x03e, Pipe: PipeALU, Operands: []Slot{rd(w1)}}
	const hopper = in89 | in90 // with 8-bit floating-point numbers
	noC := hidden(noReuse(regC("C", plain)), false)
	shown := regC("C", plain)
	shown.Sel = &ModField{Bits: Bits{72, 1}, names: &halfByte}
	noA := hidden(regA(plain), false)
	format := func(code int) ModField { return only(Fixed, Bits{86, 5}, code, 0, "") }
	rows := func(archs ArchSet, in traits, tail Slot, mods ...ModField) []Form {
		g := f
		g.Archs, g.Mods = archs, mods
		return binary(g, formRIR, formRCR, in, in, tail)
	}
	halves := func(f16, bf16 string) ModField {
		return mod(DstType, 76, 1, &enum{text: []string{f16, bf16}, value: []uint16{TypeF16, TypeBF16}})
	}
	bytesOf := mod(DstType, 76, 1, &enum{text: []string{".E5M2", ".E4M3"}, value: []uint16{TypeE5M2, TypeE4M3}})
	unpacked := mod(SrcType, 73, 2, &enum{text: []string{bad, bad, ".E5M2", ".E4M3"}, value: []uint16{0, 0, TypeE5M2, TypeE4M3}})
	from := constant(SrcType, TypeF32, ".F32")
	whole, low, high := (*enum)(nil), &enum{text: []string{""}, value: []uint16{0}}, &enum{text: []string{".H1"}, value: []uint16{uint16(SelH1)}}
	one := func(half *enum, c Slot, mods ...ModField) []Form { // of one source
		g := f
		g.Archs, g.Mods, g.Operands = hopper, mods, []Slot{rd(w1), noA}
		forms := unary(g, traits{imm: float32s}, c)
		for k := range forms {
			if half != nil {
				forms[k].Operands[2].Sel = &ModField{names: half}
			}
		}
		return forms
	}
	opened, brain := only(DstType, Bits{76, 1}, 0, TypeF16, ".F16"), only(Obscure, Bits{76, 1}, 1, 1, ".BF16")
	// nvdisasm accepts it on sm_75 without a word of text. Libraries for sm_75 have it.
	turing := f.with(f.Opcode|formRRR, []Slot{rd(w1), regA(plain), regB("B", plain), noC})
	turing.Archs, turing.Mods = in75, []ModField{off(Sat, 77), off(Relu, 75), only(DstType, Bits{76, 1}, 0, TypeF16, ""), off(Merge, 78),
		constant(SrcType, TypeF32, ".PACK_AB"), round}
	return slices.Concat(
		rows(in80|in86, traits{imm: float32s}, noC, finite, relu, halves("", ".BF16"), off(Merge, 78), constant(SrcType, TypeF32, ".PACK_AB"), round),
		rows(hopper, traits{imm: float32s}, noC, finite, relu, halves(".F16", ".BF16"), off(Merge, 78), from, constant(Fixed, 0, ".PACK_AB"), round, format(0)),
		rows(hopper, traits{imm: float32s}, shown, finite, relu, bytesOf, on(Merge, 78, ""), from, constant(Fixed, 0, ".PACK_AB_MERGE_C"), format(18)),
		[]Form{turing},
		one(whole, noC, relu, only(DstType, Bits{76, 1}, 1, TypeTF32, ".TF32"), from, on(Merge, 78, ""), constant(Fixed, 0, ".PACK_B"), round, format(9)),
		one(low, noC, relu, opened, unpacked, constant(Fixed, 0, ".UNPACK_B"), format(8)),
		one(high, noC, relu, opened, unpacked, constant(Fixed, 0, ".UNPACK_B"), format(12)),
		one(low, noC, relu, brain, unpacked, constant(Fixed, 0, ".UNPACK_B"), format(8)),
		one(high, noC, relu, brain, unpacked, constant(Fixed, 0, ".UNPACK_B"), format(12)),
		one(whole, shown, finite, relu, bytesOf, only(SrcType, Bits{73, 2}, 1, TypeF16, ".F16"), off(Merge, 78), constant(Fixed, 0, ".UNPACK_B_MERGE_C"), format(18)),
	)
}
