package sass

import "strconv"

// Text returns the instruction as nvdisasm -b prints it, letter for letter, without the semicolon and spaces at the end.
// Code addresses are numbers: byte offsets in the section.
func (i *Inst) Text() string { return string(i.AppendText(nil, nil)) }

// TextWith is Text with label's name for a code address, where it returns one. It is asked for the targets of branches
// and calls, not for offsets from a register.
func (i *Inst) TextWith(label func(target uint64) string) string {
	return string(i.AppendText(nil, label))
}

// Mnemonic returns the opcode with its modifiers as Text prints them, without guard and operands.
func (i *Inst) Mnemonic() string { return string(i.appendMnemonic(nil)) }

// AssemblyText is TextWith and what nvdisasm leaves out though [Parse] needs it to make the same word again: the descriptor
// of an access before sm_90, in sm_90's notation, as desc.101 where bit 101 is set, which makes nvdisasm name it too; and the
// payload of a NaN, as the bits of the field.
func (i *Inst) AssemblyText(label func(target uint64) string) string {
	return string(i.appendNotation(nil, notation{label: label, exact: true}))
}

// A notation says how an instruction is printed.
type notation struct {
	label func(target uint64) string // may be nil
	exact bool                       // AssemblyText
}

// String is Text.
func (i *Inst) String() string { return i.Text() }

// AppendText appends the text to dst; label may be nil.
func (i *Inst) AppendText(dst []byte, label func(target uint64) string) []byte {
	return i.appendNotation(dst, notation{label: label})
}

func (i *Inst) appendNotation(dst []byte, n notation) []byte {
	if !i.Known() {
		return append(dst, i.Op.String()...)
	}
	dst = i.Guard.append(dst)
	dst = i.appendMnemonic(dst)
	first := true
	for k := range i.Operands {
		s := &i.Form.Operands[k]
		if !i.shown(k) {
			continue
		}
		switch {
		case first:
			dst = append(dst, ' ')
		case s.join != "":
			dst = append(dst, s.join...)
		default:
			dst = append(dst, ", "...)
		}
		first = false
		dst = i.appendOperand(dst, k, n)
	}
	for len(dst) > 0 && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func (g Guard) append(dst []byte) []byte {
	if g.Always() {
		return dst
	}
	dst = append(dst, '@')
	if g.Neg {
		dst = append(dst, '!')
	}
	if g.Uniform {
		dst = append(dst, 'U')
	}
	return append(appendNumbered(dst, 'P', g.Reg, PT, 'T'), ' ')
}

// appendMnemonic appends the opcode and its modifiers.
func (i *Inst) appendMnemonic(dst []byte) []byte {
	f := i.Form
	dst = append(dst, i.Op.String()...)
	dst = append(dst, f.Suffix...)
	if f.alias != nil {
		dst = append(dst, f.alias(i)...)
	}
	for k := range f.Mods {
		names := f.Mods[k].names
		if code, ok := names.code(i.Mods[k].Value); ok {
			dst = append(dst, names.text[code]...)
		}
	}
	return dst
}

// shown reports whether operand k is printed.
func (i *Inst) shown(k int) bool {
	s := &i.Form.Operands[k]
	if s.behind && !i.shown(k-1) || s.ofUniform && i.Operands[k-1].UReg == URZ {
		return false
	}
	return s.Show == always || s.Show == unlessPlain && !s.isDefault(&i.Operands[k])
}

// isDefault reports whether the operand has the value that goes without saying.
func (s *Slot) isDefault(o *Operand) bool {
	switch s.Kind {
	case KindImm:
		return o.Imm == s.Default
	case KindTarget:
		return o.Imm == 0
	}
	return uint64(o.Reg) == s.Default && o.Not == s.DefaultNot
}

// appendOperand appends operand k.
func (i *Inst) appendOperand(dst []byte, k int, n notation) []byte {
	s, o := &i.Form.Operands[k], &i.Operands[k]
	switch o.Kind {
	case KindImm:
		return append(s.appendImm(dst, o.Imm, n.exact), s.selText(o)...)
	case KindTarget:
		return s.appendTarget(dst, o.Imm, n.label)
	case KindMem:
		return i.appendMem(dst, s, o, n.exact)
	case KindSReg:
		return append(dst, i.Arch.specialRegister(o.Imm)...)
	case KindConvBar:
		return append(dst, barrierName(o.Reg)...)
	case KindScoreboard:
		return append(dst, 'S', 'B', '0'+o.Reg)
	case KindPredSet:
		return append(dst, "PR"...)
	case KindUPredSet:
		return append(dst, "UPR"...)
	case KindDesc:
		return append(appendNumbered(append(dst, "desc[U"...), 'R', o.Reg, URZ, 'Z'), ']')
	case KindGDesc:
		dst = append(appendNumbered(append(dst, "gdesc[U"...), 'R', o.Reg, URZ, 'Z'), ']')
		return append(dst, s.selText(o)...)
	case KindIDesc:
		return append(appendNumbered(append(dst, "idesc[U"...), 'R', o.Reg, URZ, 'Z'), ']')
	case KindTMem:
		switch dst = append(dst, "tmem["...); {
		case o.Offset == 0:
			dst = appendNumbered(append(dst, 'U'), 'R', o.Reg, URZ, 'Z')
		case o.Reg == URZ:
			dst = appendSigned(dst, int64(o.Offset))
		default:
			dst = appendSigned(append(appendNumbered(append(dst, 'U'), 'R', o.Reg, URZ, 'Z'), '+'), int64(o.Offset))
		}
		return append(append(dst, ']'), s.selText(o)...)
	case KindPred:
		if o.Not {
			dst = append(dst, '!')
		}
		return appendNumbered(dst, 'P', o.Reg, PT, 'T')
	case KindUPred:
		if o.Not {
			dst = append(dst, '!')
		}
		return appendNumbered(append(dst, 'U'), 'P', o.Reg, UPT, 'T')
	}
	return appendSource(dst, s, o)
}

// appendSource appends a register or a constant with its unary operators, selector and .reuse.
func appendSource(dst []byte, s *Slot, o *Operand) []byte {
	switch {
	case o.Neg:
		dst = append(dst, '-')
	case o.Not:
		dst = append(dst, '~')
	}
	if o.Abs {
		dst = append(dst, '|')
	}
	switch o.Kind {
	case KindConst:
		dst = appendConst(dst, s, o)
	case KindUReg:
		dst = appendNumbered(append(dst, 'U'), 'R', o.Reg, URZ, 'Z')
	default:
		dst = appendNumbered(dst, 'R', o.Reg, RZ, 'Z')
	}
	inside := s.selInside(o)
	if inside {
		dst = append(dst, s.selText(o)...)
	}
	if o.Abs {
		dst = append(dst, '|')
	}
	if o.Reuse {
		dst = append(dst, ".reuse"...)
	}
	if !inside {
		dst = append(dst, s.selText(o)...)
	}
	return dst
}

// selInside reports whether the selector stands inside the bars of an absolute value, as that of a constant, of a uniform
// register and byte selectors do. All others stand behind .reuse.
func (s *Slot) selInside(o *Operand) bool {
	return o.Abs && s.Sel != nil &&
		(o.Kind == KindConst || o.Kind == KindUReg || s.Sel.names == &byteNames || s.Sel.names == &halfByte)
}

// selText returns the spelling of the operand's selector.
func (s *Slot) selText(o *Operand) string {
	if s.Sel == nil {
		return ""
	}
	code, _ := s.Sel.names.code(uint16(o.Swz))
	return s.Sel.names.text[code]
}

// appendNumbered appends a register's letter and number, or the letters of the one that is constant.
func appendNumbered(dst []byte, letter byte, n, constant uint8, suffix byte) []byte {
	dst = append(dst, letter)
	if n == constant {
		return append(dst, suffix)
	}
	return strconv.AppendUint(dst, uint64(n), 10)
}

// appendConst appends c[bank][offset] or c[bank][register+offset]. Operands with a selector have a space inside.
func appendConst(dst []byte, s *Slot, o *Operand) []byte {
	if s.Descriptor {
		dst = appendNumbered(append(dst, "cx[U"...), 'R', o.UReg, URZ, 'Z')
	} else {
		dst = appendHex(append(dst, "c["...), uint64(o.Bank))
	}
	if s.Sel != nil {
		dst = append(dst, "] ["...)
	} else {
		dst = append(dst, "]["...)
	}
	if s.URegAt.N != 0 && !s.Descriptor && !(s.optional && o.UReg == URZ && o.Offset != 0) {
		dst = appendNumbered(append(dst, 'U'), 'R', o.UReg, URZ, 'Z')
		if o.Offset != 0 {
			dst = appendSigned(append(dst, '+'), int64(o.Offset))
		}
		return append(dst, ']')
	}
	if s.Base.N == 0 || o.Reg == RZ && (o.Offset != 0 || s.Descriptor) {
		return append(appendSigned(dst, int64(o.Offset)), ']')
	}
	return append(s.appendBase(dst, o), ']')
}

// appendMem appends [register+offset], [register+uniform register+offset] or, with a descriptor, [register.64+offset],
// before which only sm_90 names the descriptor, others where the text is to be exact.
func (i *Inst) appendMem(dst []byte, s *Slot, o *Operand, exact bool) []byte {
	switch {
	case s.style.own():
		return s.appendStyled(dst, o)
	case s.Descriptor:
		if i.Arch >= SM90 || exact || o.Swz != 0 {
			if dst = append(dst, "desc"...); exact {
				dst = append(dst, s.selText(o)...)
			}
			dst = append(appendNumbered(append(dst, "[U"...), 'R', o.UReg, URZ, 'Z'), ']')
		}
		dst = appendNumbered(append(dst, '['), 'R', o.Reg, RZ, 'Z')
		if s.Width != w1 {
			dst = append(dst, ".64"...)
		}
		if o.Offset != 0 {
			dst = appendSigned(append(dst, '+'), int64(o.Offset))
		}
		return append(dst, ']')
	case s.URegAt.N != 0:
		return i.appendSum(append(dst, '['), s, o, exact)
	}
	if (o.Swz != 0 && (o.Reg != RZ || exact)) || s.summandText(o) != "" {
		dst = append(appendNumbered(append(dst, '['), 'R', o.Reg, RZ, 'Z'), s.selText(o)...)
		if o.Offset != 0 {
			dst = appendSigned(append(dst, '+'), int64(o.Offset))
		}
		return append(dst, ']')
	}
	return append(s.appendBase(append(dst, '['), o), ']')
}

// appendSum appends register+uniform register+offset]. RZ is named where it has a width or a factor, its width from sm_90 on but in accesses of 256 bits;
// URZ is not beside a register of 64 bits before sm_80, in copies and in accesses to other blocks. Exact text names both, so that such an address does not
// look like one with a descriptor.
func (i *Inst) appendSum(dst []byte, s *Slot, o *Operand, exact bool) []byte {
	width, isCopy := s.summandText(o), i.Op == LDGSTS
	named := o.Reg != RZ || s.selText(o) != "" && (width == "" || exact || isCopy || i.Arch >= SM90 && s.Format != sectors)
	if named {
		dst = append(appendNumbered(dst, 'R', o.Reg, RZ, 'Z'), s.selText(o)...)
	}
	unnamed := isCopy && width != "" || width == ".64" && (i.Op == STAS || i.Op == REDAS)
	if o.UReg != URZ || !named || exact || !unnamed {
		if named {
			dst = append(dst, '+')
		}
		dst = appendNumbered(append(dst, 'U'), 'R', o.UReg, URZ, 'Z')
	}
	if o.Offset != 0 {
		dst = appendSigned(append(dst, '+'), int64(o.Offset))
	}
	return append(dst, ']')
}

// summandText returns the width of the register that is added to a 64-bit address in uniform registers, .64 or .U32; nothing
// for other addresses.
func (s *Slot) summandText(o *Operand) string {
	if s.Sel == nil || s.Sel.names == &addrScales {
		return ""
	}
	return s.selText(o)
}

// appendBase appends register+offset without what is zero.
func (s *Slot) appendBase(dst []byte, o *Operand) []byte {
	switch {
	case o.Reg != RZ || o.Offset == 0:
	case s.sign == signAlways:
		return appendSigned(dst, int64(o.Offset))
	default:
		return appendHex(dst, uint64(uint32(o.Offset)))
	}
	dst = appendNumbered(dst, 'R', o.Reg, RZ, 'Z')
	if o.Offset == 0 {
		return dst
	}
	return appendSigned(append(dst, '+'), int64(o.Offset))
}

// appendTarget appends a code address or a distance.
func (s *Slot) appendTarget(dst []byte, address uint64, label func(uint64) string) []byte {
	if label != nil && s.Format != distance {
		if name := label(address); name != "" {
			return append(dst, name...)
		}
	}
	return appendSigned(dst, int64(address))
}

// appendImm appends an immediate.
func (s *Slot) appendImm(dst []byte, v uint64, exact bool) []byte {
	if s.names != nil {
		return append(dst, s.names.text[v]...)
	}
	if exact && s.Format.isNaN(v) {
		if s.Format == float64s { // the field has the upper half
			v >>= 32
		}
		return appendHex(dst, v)
	}
	switch s.Format {
	case signed:
		return appendSigned(dst, int64(int32(v)))
	case signed64:
		return appendSigned(dst, int64(v))
	case float32s:
		return appendFloat32(dst, uint32(v))
	case float64s:
		return appendFloat64(dst, v)
	case float16:
		return appendFloat16(dst, uint16(v))
	case bfloat16:
		return appendFloat32(dst, uint32(v)<<16)
	case float16s:
		dst = appendFloat16(dst, uint16(v>>16))
		return appendFloat16(append(dst, ", "...), uint16(v))
	case bfloat16s:
		dst = appendFloat32(dst, uint32(v)&0xffff0000)
		return appendFloat32(append(dst, ", "...), uint32(v)<<16)
	case bitSet:
		return appendBitSet(dst, v)
	}
	return appendHex(dst, v)
}

// isNaN reports whether an immediate is a NaN, or has one in a half, whose payload is not printed.
func (f format) isNaN(v uint64) bool {
	half := func(v uint64) bool { return v&0x7fff > 0x7c00 }
	brain := func(v uint64) bool { return v&0x7fff > 0x7f80 }
	switch f {
	case float32s:
		return v&0x7fffffff > 0x7f800000
	case float64s:
		return v&(1<<63-1) > 0x7ff<<52
	case float16:
		return half(v)
	case bfloat16:
		return brain(v)
	case float16s:
		return half(v) || half(v>>16)
	case bfloat16s:
		return brain(v) || brain(v>>16)
	}
	return false
}

func appendHex(dst []byte, v uint64) []byte { return strconv.AppendUint(append(dst, "0x"...), v, 16) }

func appendSigned(dst []byte, v int64) []byte {
	if v < 0 {
		return appendHex(append(dst, '-'), -uint64(v))
	}
	return appendHex(dst, uint64(v))
}

// appendBitSet appends the numbers of the bits that are set, the highest first, as in {3,1,0}.
func appendBitSet(dst []byte, v uint64) []byte {
	dst = append(dst, '{')
	sep := false
	for b := 63; b >= 0; b-- {
		if v>>b&1 == 0 {
			continue
		}
		if sep {
			dst = append(dst, ',')
		}
		sep = true
		dst = strconv.AppendInt(dst, int64(b), 10)
	}
	return append(dst, '}')
}
