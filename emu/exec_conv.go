package emu

import (
	"math"

	"gpa/cubin/sass"
)

// conversionCompilers are the conversions between number formats. All but those from 64-bit integers go through f64,
// which holds every value of the other types exactly: a source is loaded into a row of f64, which is then rounded once
// and stored.
var conversionCompilers = map[sass.Op]compiler{
	sass.F2F:  compileConversion,
	sass.F2I:  compileConversion,
	sass.I2F:  compileConversion,
	sass.FRND: compileConversion,
}

// A numberType is a type of one side of a conversion: an integer, or a floating-point format.
type numberType struct {
	intType
	format *floatFormat // nil for integers
}

// numberTypeOf returns the type that a modifier names; one of no bits for others.
func numberTypeOf(t uint16) numberType {
	switch t {
	case sass.TypeU8, sass.TypeU16, sass.TypeU32, sass.TypeU64:
		return numberType{intType: intType{bits: 8 << ((t - sass.TypeU8) / 2)}}
	case sass.TypeS8, sass.TypeS16, sass.TypeS32, sass.TypeS64:
		return numberType{intType: intType{bits: 8 << ((t - sass.TypeS8) / 2), signed: true}}
	case sass.TypeU2, sass.TypeS2:
		return numberType{intType: intType{bits: 2, signed: t == sass.TypeS2}}
	case sass.TypeU4, sass.TypeS4:
		return numberType{intType: intType{bits: 4, signed: t == sass.TypeS4}}
	case sass.TypeF16:
		return numberType{intType{bits: 16}, &formatF16}
	case sass.TypeBF16:
		return numberType{intType{bits: 16}, &formatBF16}
	case sass.TypeF32:
		return numberType{intType{bits: 32}, &formatF32}
	case sass.TypeF64:
		return numberType{intType{bits: 64}, &formatF64}
	}
	return numberType{}
}

// valueKind returns how modifiers of an operand of the type work.
func (t numberType) valueKind() valueKind {
	switch t.format {
	case &formatF16, &formatBF16:
		return halfValue
	case &formatF32:
		return floatValue
	case &formatF64:
		return doubleValue
	}
	return rawValue
}

// A converter is a conversion with its modifiers.
type converter struct {
	from, to  numberType
	round     rounding
	ftz       bool
	nanToZero bool
	integral  bool // FRND: the value is rounded to an integral one
}

func compileConversion(p *program, o *op) error {
	in := o.inst
	c := converter{from: numberTypeOf(in.Mod(sass.SrcType)), to: numberTypeOf(in.Mod(sass.DstType)),
		round: rounding(in.Mod(sass.Round)), ftz: flushes(in), nanToZero: in.Mod(sass.NTZ) != 0,
		integral: in.Op == sass.FRND}
	if c.from.bits == 0 || c.to.bits == 0 || c.from.format == &formatBF16 && c.ftz {
		return unsupported(o)
	}
	o.run = func(w *warp, o *op) error { return c.convert(w, o) }
	if c.from.format == nil && c.from.bits == 64 {
		o.run = func(w *warp, o *op) error { return c.fromWide(w, o) }
	}
	return p.resolve(o, layoutB, c.from.valueKind())
}

func (c *converter) convert(w *warp, o *op) error {
	x := &w.wide[0]
	c.load(w, &o.b, x)
	if c.integral {
		for i := range x {
			x[i] = roundIntegral(x[i], c.round)
		}
	}
	c.store(w, o, x)
	return nil
}

// load reads the operand; one of 8 or 16 bits lies where the selector of its byte or half says.
func (c *converter) load(w *warp, s *source, x *doubles) {
	switch at := uint(s.swz) * c.from.bits & 31; c.from.format {
	case &formatF16:
		loadF16s(w.in(s, 0), x, at)
	case &formatBF16:
		for i, v := range w.in(s, 0) {
			x[i] = bf16ToF64(uint16(v >> (at & 31)))
		}
	case &formatF32:
		loadF32s(w.in(s, 0), x, c.ftz)
	case &formatF64:
		*x = *w.doubles(s, 0)
	default:
		loadInts(w.in(s, 0), x, c.from.intType, at)
	}
}

func loadF16s(v *lanes, x *doubles, at uint) {
	for i := range v {
		x[i] = f16ToF64(uint16(v[i] >> (at & 31)))
	}
}

func loadF32s(v *lanes, x *doubles, ftz bool) {
	m := f32Mode{ftz: ftz}
	for i := range v {
		x[i] = m.input(v[i])
	}
}

// loadInts reads integers of at most 32 bits.
func loadInts(v *lanes, x *doubles, t intType, at uint) {
	top := 32 - t.bits
	for i := range v {
		b := v[i] >> (at & 31) << (top & 31)
		if t.signed {
			x[i] = float64(int32(b) >> (top & 31))
		} else {
			x[i] = float64(b >> (top & 31))
		}
	}
}

// store rounds the values to the destination type and stores them.
func (c *converter) store(w *warp, o *op, x *doubles) {
	switch d := w.out(o, 0); {
	case c.to.bits == 64:
		c.storeWide(w, o, x)
		return
	case c.to.format == &formatF16:
		for i := range d {
			d[i] = uint32(f16FromF64(x[i], c.round))
		}
	case c.to.format == &formatBF16:
		for i := range d {
			d[i] = uint32(formatBF16.convert(&formatF64, bitsF64(x[i]), c.round))
		}
	case c.to.format == &formatF32:
		for i := range d {
			d[i] = roundF32(x[i], c.round)
		}
	case c.to.intType == intType{bits: 32, signed: true}:
		for i := range d {
			d[i] = s32FromF64(x[i], c.round, c.nanToZero)
		}
	default:
		for i := range d {
			d[i] = uint32(c.to.fromFloat(x[i], c.round, c.nanToZero))
		}
	}
	w.done(o, 1)
}

// storeWide stores f64 or 64-bit integers.
func (c *converter) storeWide(w *warp, o *op, x *doubles) {
	d, e := w.out(o, 0), w.out(o, 1)
	for i := range d {
		r := bitsF64(x[i])
		if c.to.format == nil {
			r = c.to.fromFloat(x[i], c.round, c.nanToZero)
		}
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
}

// fromWide converts 64-bit integers, which f64 does not hold exactly.
func (c *converter) fromWide(w *warp, o *op) error {
	low, high := w.rawPair(&o.b)
	d, e := w.out(o, 0), &w.tmp[0][0]
	n := 1
	if c.to.bits == 64 {
		e, n = w.out(o, 1), 2
	}
	for i := range d {
		r := c.from.toFloat(uint64(high[i])<<32|uint64(low[i]), c.to.format, c.round)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, n)
	return nil
}

// s32FromF64 is fromFloat for the most usual type.
func s32FromF64(x float64, mode rounding, nanToZero bool) uint32 {
	x = roundIntegral(x, mode)
	if x >= math.MinInt32 && x <= math.MaxInt32 {
		return uint32(int32(x))
	}
	return uint32(intType{bits: 32, signed: true}.fromFloat(x, mode, nanToZero))
}
