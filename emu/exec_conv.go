package emu

import (
	"gpa/cubin/sass"
)

// conversionCompilers are the conversions between number formats.
var conversionCompilers = map[sass.Op]compiler{
	sass.F2F:  compileConversion(f2f),
	sass.F2I:  compileConversion(f2i),
	sass.I2F:  compileConversion(i2f),
	sass.FRND: compileConversion(frnd),
}

// A numberType says how a conversion reads or writes a type.
type numberType struct {
	intType
	format *floatFormat // nil for integers
}

var numberTypes = map[uint16]numberType{
	sass.TypeU8:  {intType{8, false}, nil},
	sass.TypeS8:  {intType{8, true}, nil},
	sass.TypeU16: {intType{16, false}, nil},
	sass.TypeS16: {intType{16, true}, nil},
	sass.TypeU32: {intType{32, false}, nil},
	sass.TypeS32: {intType{32, true}, nil},
	sass.TypeU64: {intType{64, false}, nil},
	sass.TypeS64: {intType{64, true}, nil},
	sass.TypeF16: {intType{16, true}, &formatF16},
	sass.TypeF32: {intType{32, true}, &formatF32},
	sass.TypeF64: {intType{64, true}, &formatF64},
}

// A conversion converts one value, the bits of a source type, to the bits of a destination type.
type conversion func(c *converter, v uint64) uint64

// A converter is a conversion with its modifiers.
type converter struct {
	from, to numberType
	round    rounding
	ftz, sat bool
	ntz      bool
	convert  conversion
}

func compileConversion(convert conversion) compiler {
	return func(p *program, o *op) error {
		in := o.inst
		c := &converter{from: numberTypes[in.Mod(sass.SrcType)], to: numberTypes[in.Mod(sass.DstType)],
			round: rounding(in.Mod(sass.Round)), ftz: in.Mod(sass.FTZ) != sass.FTZNone, sat: in.Mod(sass.Sat) != 0,
			ntz: in.Mod(sass.NTZ) != 0, convert: convert}
		if int(c.from.bits) == 0 || int(c.to.bits) == 0 {
			return unsupported(o)
		}
		o.run = func(w *warp, o *op) error { return c.run(w, o) }
		kind := intValue
		switch {
		case c.from.format == &formatF64:
			kind = doubleValue
		case c.from.format == &formatF16:
			kind = halfValue
		case c.from.format != nil:
			kind = floatValue
		case int(c.from.bits) == 64:
			kind = rawValue
		}
		return p.resolve(o, layoutB, kind)
	}
}

// run converts in the lanes that execute. Operands of 8 and 16 bits are picked from their register.
func (c *converter) run(w *warp, o *op) error {
	low := w.in(&o.b, 1)
	high := &zeroLanes
	if int(c.from.bits) == 64 {
		low, high = w.pair(&o.b, 1)
	}
	shift := int(o.b.swz) * int(c.from.bits) & 31
	d, e := w.out(o, 0), &w.res[1]
	if int(c.to.bits) == 64 {
		e = w.out(o, 1)
	}
	for i := range d {
		v := uint64(high[i])<<32 | uint64(low[i])
		if int(c.from.bits) < 32 {
			v = v >> shift & (1<<int(c.from.bits) - 1)
		}
		r := c.convert(c, v)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 1+int(c.to.bits)/64)
	return nil
}

// float returns a floating-point source value as f64, which holds every one exactly.
func (c *converter) float(v uint64) float64 {
	if c.ftz && c.from.format == &formatF32 {
		v = c.from.format.flush(v)
	}
	return c.from.format.f64Of(v)
}

// f2f changes the width of a floating-point number, or only applies modifiers.
func f2f(c *converter, v uint64) uint64 {
	v = c.to.format.fromF64(c.float(v), c.round)
	if c.to.format == &formatF32 {
		if c.ftz {
			v = c.to.format.flush(v)
		}
		if c.sat {
			v = uint64(saturateF32(uint32(v)))
		}
	}
	return v
}

// frnd rounds to an integral value of the same format.
func frnd(c *converter, v uint64) uint64 {
	return c.to.format.fromF64(roundIntegral(c.float(v), c.round), roundRN)
}

// f2i saturates to the range of the integer type.
func f2i(c *converter, v uint64) uint64 { return c.to.fromFloat(c.float(v), c.round, c.ntz) }

// i2f rounds an integer to a floating-point format.
func i2f(c *converter, v uint64) uint64 { return c.from.toFloat(v, c.to.format, c.round) }
