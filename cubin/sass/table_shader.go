package sass

import "slices"

// shaderForms are what shaders have and compute kernels have not: attributes of vertices, interpolation, primitives and
// pixels. Nothing executes them; their pipes are those of what is alike.
func shaderForms() []Form {
	return purposed(ofShaders, slices.Concat(attributeForms(), interpolationForms(), primitiveForms(), pixelForms()))
}

// shader is the beginning of a row.
func shader(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
	return memory(op, opcode, operands, mods...)
}

// obscured is a field of modifiers of rows that are opaque anyway.
func obscured(lo, n uint8, text ...string) ModField {
	return mod(Obscure, lo, n, &enum{text: text})
}

// attribute is the address of an attribute with an offset alone, which has 10 bits, or behind a register 11, the highest its
// sign.
func attribute(s Slot) Slot {
	s.Name, s.Kind, s.Access, s.style = "address", KindMem, Reads, attributeAddress
	return s
}

// attributeSizes are the sizes of accesses to attributes.
func attributeSizes() ModField { return obscured(74, 2, "", ".64", ".96", ".128") }

// attributeForms are loads and stores of attributes, of another vertex where a register says so, of a patch (.P) or by a
// physical address, which AL2P makes.
func attributeForms() []Form {
	output, patch, whole := obscure(79, ".O"), on(Fixed, 76, ".P"), off(Fixed, 76)
	logical, physical := off(Fixed, 77), on(Fixed, 77, ".PHYS")
	alone := only(Fixed, Bits{24, 8}, RZ, 0, "")
	fixed := attribute(Slot{Bits: Bits{40, 10}})
	indexed := attribute(Slot{Bits: Bits{40, 11}, Base: Bits{24, 8}, Default: RZ})
	uniform := attribute(Slot{Bits: Bits{40, 11}, URegAt: Bits{24, 6}, sign: signAlways})
	bare := attribute(Slot{Base: Bits{24, 8}, Default: RZ})
	vertex := func(s Slot) Slot {
		s.Name, s.Show = "vertex", unlessPlain
		return noReuse(s)
	}
	load := func(opcode uint16, address Slot, mods ...ModField) Form {
		return shader(ALD, opcode, []Slot{rd(w1), address}, append([]ModField{output}, mods...)...)
	}
	ofVertex := func(f Form) Form {
		f.Operands = append(f.Operands, vertex(regB("vertex", plain)))
		return f
	}
	store := func(opcode uint16, address Slot, mods ...ModField) Form {
		return shader(AST, opcode, []Slot{address, noReuse(regB("B", plain)), vertex(regC("vertex", plain))}, mods...)
	}
	none := only(Fixed, Bits{32, 8}, RZ, 0, "")
	physicalStore := store(0x322, bare, whole, physical)
	toPhysical := shader(AL2P, 0x920, []Slot{rd(w1), indexed}, output, attributeSizes())
	toPhysical.Operands[1].style = bareAddress
	return []Form{
		ofVertex(load(0x321, fixed, whole, attributeSizes(), logical, alone)),
		load(0x321, indexed, patch, attributeSizes(), logical, none),
		ofVertex(load(0x321, bare, whole, only(Fixed, Bits{74, 2}, 0, 0, ""), physical)),
		ofVertex(load(0x521, uniform, whole, attributeSizes(), logical, on(UR, 91, ""))).on(from75),
		load(0x521, uniform, patch, attributeSizes(), logical, none, on(UR, 91, "")).on(from75),
		store(0x322, fixed, whole, attributeSizes(), logical, alone),
		store(0x322, indexed, patch, attributeSizes(), logical),
		physicalStore,
		store(0x522, uniform, obscure(76, ".P"), attributeSizes(), logical, on(UR, 91, "")).on(from75),
		toPhysical,
	}
}

// interpolationForms are IPA and the load of the coefficients that it works with.
func interpolationForms() []Form {
	fixed := attribute(Slot{Bits: Bits{64, 8}, Format: words})
	uniform := attribute(Slot{Bits: Bits{64, 8}, URegAt: Bits{24, 6}, Format: words, sign: signNever})
	mode := obscured(78, 2, ".PASS", ".CONSTANT", ".STATE")
	without := obscured(76, 2, "", ".CENTROID")
	with := only(Fixed, Bits{76, 2}, 2, 0, ".OFFSET")
	row := func(opcode uint16, address Slot, where ModField, mods ...ModField) Form {
		return shader(IPA, opcode, []Slot{rd(w1), pd(unlessPlain), address}, append([]ModField{mode, where}, mods...)...)
	}
	at := func(offset Slot, f Form) Form {
		f.Operands = append(f.Operands, offset)
		return f
	}
	register, bound := noReuse(regB("offset", plain)), on(UR, 91, "")
	coefficients := uniform
	coefficients.style = coefficientAddress
	load := shader(LDTRAM, 0x3ad, []Slot{rd(w1), coefficients}, obscured(72, 1, ".AB", ".C"), bound)
	return []Form{
		row(0x326, fixed, without),
		at(register, row(0x326, fixed, with)),
		row(0x526, uniform, without, bound).on(from75),
		at(register, row(0x526, uniform, with, bound)).on(from75),
		at(imm32("offset", hex), row(0x926, fixed, with)).on(in70),
		at(imm32("offset", hex), row(0x926, fixed, with, off(UR, 91))).on(from75),
		at(imm32("offset", hex), row(0x926, uniform, with, bound)).on(from75),
		at(constant("offset", plain), row(0xb26, fixed, with)),
		load.on(from75),
	}
}

// primitiveForms are the internal-stage buffer of geometry shaders and what emits their vertices.
func primitiveForms() []Form {
	old := Slot{Name: "address", Kind: KindMem, Base: Bits{24, 8}, Access: Reads, Default: RZ}
	later := old
	later.Bits, later.style = Bits{40, 16}, bufferAddress
	sizes := []string{"", ".U16", ".32"}
	forms := emitForms()
	for _, v := range []struct {
		archs   ArchSet
		address Slot
	}{{before86, old}, {from86, later}} {
		read := shader(ISBERD, 0x923, []Slot{rd(w1), v.address}, obscure(79, ".O"), obscured(76, 2, "", ".PATCH", ".PRIM", ".ATTR"),
			obscure(78, ".SKEW"), obscured(74, 2, sizes...))
		write := shader(ISBEWR, 0x927, []Slot{v.address, noReuse(regB("B", plain))}, on(Fixed, 79, ".O"),
			obscured(76, 2, "", bad, bad, ".ATTR"), obscure(78, ".SKEW"), obscured(74, 2, sizes...))
		forms = append(forms, read.on(v.archs), write.on(v.archs&from75))
	}
	return forms
}

// emitForms are OUT. With .FINAL it neither has nor writes a handle.
func emitForms() []Form {
	a := noReuse(regA(plain))
	what := mod(Obscure, 78, 2, &enum{text: []string{bad, ".EMIT", ".CUT", ".EMIT_THEN_CUT"}})
	final := only(Obscure, Bits{78, 2}, 0, 1, ".FINAL")
	row := func(opcode uint16, b Slot, mods ...ModField) Form {
		return shader(OUT, opcode, []Slot{rd(w1), a, noReuse(b)}, mods...)
	}
	last := shader(OUT, 0x324, []Slot{a}, final, only(Fixed, Bits{16, 8}, RZ, 0, ""), only(Fixed, Bits{32, 8}, RZ, 0, ""))
	return []Form{
		row(0x324, regB("B", plain), what), last,
		row(0x924, imm32("B", signed), what),
		row(0xd24, uregB("B", plain), what, on(UR, 91, "")).on(from75),
	}
}

// pixelForms work on pixels and the quads that they make.
func pixelForms() []Form {
	what := obscured(78, 3, "", ".COVMASK", ".CENTROID_OFFSET", ".MY_INDEX", ".INNER_COVERAGE")
	kill := control(KILL, 0x95b, []Slot{cond()})
	signs := Slot{Name: "signs", Kind: KindImm, Bits: Bits{32, 8}, Access: Reads, names: &enum{text: quadSigns()}}
	add := Form{Op: FSWZADD, Opcode: 0x822, Archs: inAll, Pipe: PipeFMA,
		Operands: []Slot{rd(w1), regA(plain), regC("C", plain), signs},
		Mods:     []ModField{mod(Obscure, 80, 1, &ftzNames), mod(Obscure, 78, 2, &roundNames), obscure(77, ".NDV")}}
	return []Form{shader(PIXLD, 0x925, []Slot{rd(w1), pd(unlessPlain)}, what), kill, add}
}

// quadSigns spells the signs of both summands in the four lanes of a quad: P plus, N minus, ZP none and plus.
func quadSigns() []string {
	lane := [4]string{"PP", "PN", "NP", "ZP"}
	text := make([]string, 256)
	for code := range text {
		text[code] = lane[code>>6] + lane[code>>4&3] + lane[code>>2&3] + lane[code&3]
	}
	return text
}
