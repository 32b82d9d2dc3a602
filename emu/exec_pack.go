package emu

import (
	"math"

	"gpa/cubin/sass"
)

// packCompilers are the conversions at full rate: of two f32 to a packed pair of halves, a high and b low, of an integer to
// f32, and of an integer to a narrower one.
var packCompilers = map[sass.Op]compiler{
	sass.F2FP: compileF2FP,
	sass.I2FP: compileConversion,
	sass.I2I:  compileI2I,
	sass.I2IP: compileI2IP,
	sass.F2IP: compileF2IP,
}

// f8Formats are the 8-bit formats by the types of instructions.
var f8Formats = map[uint16]*f8Format{sass.TypeE4M3: &formatE4M3, sass.TypeE5M2: &formatE5M2}

func compileF2FP(p *program, o *op) error {
	in := o.inst
	from, to := in.Mod(sass.SrcType), in.Mod(sass.DstType)
	switch {
	case isSmall(from) && to == sass.TypeF16:
		return p.compileUnpack(o)
	case isSmall(from) && to == sass.TypeBF16:
		return p.compileScaledUnpack(o)
	case f8Formats[to] != nil && in.Mod(sass.Sat) != 0 && (from == sass.TypeF32 || from == sass.TypeF16 || from == sass.TypeBF16):
		return p.compilePack8(o, f8Formats[to])
	case from == sass.TypeF32 && in.Mod(sass.Sat) == 0:
		return p.compileNarrow(o, to)
	}
	return unsupported(o)
}

// formatTF32 is a f32 without its last 13 bits.
var formatTF32 = floatFormat{exp: 8, frac: 10, nan: uint64(nanF32) >> 13}

// narrower returns the conversion of a f32 to a format, with .RELU to zero where it is negative.
func narrower(in *sass.Inst, format *floatFormat) func(x uint32) uint32 {
	mode, relu := rounding(in.Mod(sass.Round)), in.Mod(sass.Relu) != 0
	return func(x uint32) uint32 {
		if relu && x&signF32 != 0 && !isNaNF32(x) {
			return 0
		}
		return uint32(format.convert(&formatF64, bitsF64(float64(math.Float32frombits(x))), mode))
	}
}

// compileNarrow is for two f32 that become a pair of f16 or bf16, and for one that becomes a tf32.
func (p *program) compileNarrow(o *op, to uint16) error {
	format := map[uint16]*floatFormat{sass.TypeF16: &formatF16, sass.TypeBF16: &formatBF16, sass.TypeTF32: &formatTF32}[to]
	if format == nil {
		return unsupported(o)
	}
	narrow := narrower(o.inst, format)
	o.run = func(w *warp, o *op) error {
		a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
		for i := range d {
			d[i] = packHalves(uint16(narrow(b[i])), uint16(narrow(a[i])))
		}
		w.done(o, 1)
		return nil
	}
	if to == sass.TypeTF32 {
		o.run = func(w *warp, o *op) error {
			b, d := w.in(&o.b, 1), w.out(o, 0)
			for i := range d {
				if d[i] = narrow(b[i]) << 13; isNaNF32(b[i]) {
					d[i] = nanF32
				}
			}
			w.done(o, 1)
			return nil
		}
	}
	return p.resolve(o, layoutAB, floatValue)
}

// compilePack8: two f32, A high and B low, or the two f16 or bf16 of B become a pair of 8 bits each in the low half of the result. Its
// high half is a half of C: ptxas makes {x, y} of two pairs x and y with y as C of the conversion to x.
func (p *program) compilePack8(o *op, format *f8Format) error {
	in := o.inst
	relu := in.Mod(sass.Relu) != 0
	narrow := func(x float64) uint32 {
		if relu && math.Signbit(x) && x == x {
			return 0
		}
		return uint32(format.finite(x))
	}
	halves, shift, value := in.Mod(sass.SrcType) != sass.TypeF32, 16*uint(in.Operands[3].Swz), f16ToF64
	if in.Mod(sass.SrcType) == sass.TypeBF16 {
		value = bf16ToF64
	}
	o.run = func(w *warp, o *op) error {
		a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
		for i := range d {
			x, y := float64(math.Float32frombits(a[i])), float64(math.Float32frombits(b[i]))
			if halves {
				x, y = value(uint16(b[i]>>16)), value(uint16(b[i]))
			}
			d[i] = narrow(y) | narrow(x)<<8 | c[i]>>shift<<16
		}
		w.done(o, 1)
		return nil
	}
	kind := floatValue
	if halves {
		kind = rawValue
	}
	if err := p.resolve(o, layoutABC, kind); err != nil {
		return err
	}
	var err error
	o.c, err = p.source(&in.Operands[3], rawValue)
	return err
}

// isSmall reports whether numbers of a type have 8 bits or less.
func isSmall(typ uint16) bool { return f8Formats[typ] != nil || narrowTypes[typ].bits != 0 }

// smallValue is the number of a code of such a type.
func smallValue(typ uint16, code byte) float64 {
	if f := f8Formats[typ]; f != nil {
		return f.value(code)
	}
	return narrowTypes[typ].value(code)
}

// smallPair returns how the codes of two numbers are taken from a register: a byte each of the half that the operand names, or the nibbles of the
// byte that it names.
func smallPair(typ uint16, from *sass.Operand) func(v uint32) (low, high byte) {
	shift := 16 * uint(from.Swz)
	if narrowTypes[typ].bits == 4 {
		shift /= 2
		return func(v uint32) (low, high byte) { return byte(v>>shift) & 15, byte(v>>shift) >> 4 }
	}
	return func(v uint32) (low, high byte) { return byte(v >> shift), byte(v >> shift >> 8) }
}

// compileUnpack: two numbers of B of 8 bits or less become a pair of f16, which has them all.
func (p *program) compileUnpack(o *op) error {
	var table [256]uint16
	typ := o.inst.Mod(sass.SrcType)
	for code := range table {
		x := smallValue(typ, byte(code))
		if table[code] = f16FromF64(x, roundRN); o.inst.Mod(sass.Relu) != 0 && math.Signbit(x) && x == x {
			table[code] = 0
		}
	}
	pair := smallPair(typ, &o.inst.Operands[2])
	o.run = func(w *warp, o *op) error {
		b, d := w.in(&o.b, 1), w.out(o, 0)
		for i := range d {
			low, high := pair(b[i])
			d[i] = packHalves(table[low], table[high])
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutAB, rawValue)
}

// compileScaledUnpack: two numbers of B of 8 bits or less become a pair of bf16, each multiplied with a power of two (PTX ISA, cvt with
// .scaled::n2::ue8m0): the bytes of the half of C that the operand names.
func (p *program) compileScaledUnpack(o *op) error {
	in := o.inst
	typ, relu, finite := in.Mod(sass.SrcType), in.Mod(sass.Relu) != 0, in.Mod(sass.Sat) != 0
	var values [256]float64
	for code := range values {
		values[code] = smallValue(typ, byte(code))
	}
	convert := func(code, scale byte) uint16 {
		x, by := values[code], blockScaleOf(scale, true)
		switch {
		case by.special != 0:
			x = math.NaN()
		case relu && math.Signbit(x) && x == x:
			return 0
		}
		h := bf16FromF64(math.Ldexp(x, int(by.exp)))
		if finite && h&^signF16 == uint16(formatBF16.infinity()) {
			h--
		}
		return h
	}
	pair, shift := smallPair(typ, &in.Operands[2]), 16*uint(in.Operands[3].Swz)
	o.run = func(w *warp, o *op) error {
		b, c, d := w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
		for i := range d {
			low, high := pair(b[i])
			scales := c[i] >> shift
			d[i] = packHalves(convert(low, byte(scales)), convert(high, byte(scales>>8)))
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layout{0, none, none, none, 2, 3, none, none}, rawValue)
}

func bf16ToF64(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

// bf16FromF64 rounds to nearest.
func bf16FromF64(x float64) uint16 {
	return uint16(formatBF16.convert(&formatF64, bitsF64(x), roundRN))
}

// clampOf returns the clamping of a signed integer to the range of a type, with .SATRELU to what of it is not negative.
func clampOf(in *sass.Inst) (t intType, clamp func(v uint32) uint32) {
	t = numberTypeOf(in.Mod(sass.DstType)).intType
	low, high := int32(0), int32(1)<<t.bits-1
	if t.signed {
		low, high = -1<<(t.bits-1), 1<<(t.bits-1)-1
	}
	if in.Mod(sass.Sat) == satRelu {
		low = 0
	}
	return t, func(v uint32) uint32 { return uint32(max(low, min(high, int32(v)))) }
}

// satRelu is the value of sass.Sat that stands for .SATRELU.
const satRelu = 2

// compileI2I clamps a signed integer to the range of a narrower type.
func compileI2I(p *program, o *op) error {
	_, clamp := clampOf(o.inst)
	o.run = func(w *warp, o *op) error {
		b, d := w.in(&o.b, 1), w.out(o, 0)
		for i := range d {
			d[i] = clamp(b[i])
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutB, intValue)
}

// packedBits are the bits of C that I2IP takes, by its selector.
var packedBits = [...]uint{16, 0, 24, 28}

// compileI2IP packs two clamped integers, A high and B low, below what of C has room (PTX ISA, cvt.pack).
func compileI2IP(p *program, o *op) error {
	t, clamp := clampOf(o.inst)
	c := &o.inst.Operands[3]
	if o.inst.Mod(sass.Sat) == 0 || t.bits == 16 && (c.Kind != sass.KindReg || c.Reg != sass.RZ) || t.bits < 16 && packedBits[c.Swz] != 32-2*t.bits {
		return unsupported(o)
	}
	mask := uint32(1)<<t.bits - 1
	o.run = func(w *warp, o *op) error {
		a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
		for i := range d {
			d[i] = c[i]<<(2*t.bits) | (clamp(a[i])&mask)<<t.bits | clamp(b[i])&mask
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutABC, intValue)
}

// compileF2IP rounds two f32 to bytes, A high and B low, below the lower half of C: what ptxas makes of cvt to an integer and
// cvt.pack (PTX ISA).
func compileF2IP(p *program, o *op) error {
	in := o.inst
	t, mode, zero := numberTypeOf(in.Mod(sass.DstType)).intType, rounding(in.Mod(sass.Round)), in.Mod(sass.NTZ) != 0
	if in.Operands[3].Swz != 0 || !zero { // without .NTZ what a NaN becomes is not known
		return unsupported(o)
	}
	relu := in.Mod(sass.Relu) != 0
	narrow := func(v uint32) uint32 {
		if relu && v&signF32 != 0 {
			return 0
		}
		return uint32(t.fromFloat(float64(math.Float32frombits(v)), mode, zero)) & 0xff
	}
	o.run = func(w *warp, o *op) error {
		a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.raw(&o.c), w.out(o, 0)
		for i := range d {
			d[i] = c[i]<<16 | narrow(a[i])<<8 | narrow(b[i])
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutABC, floatValue)
}
