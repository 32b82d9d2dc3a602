package emu

import (
	"math"

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
	width  int // bits
	signed bool
	format *floatFormat // nil for integers
}

var numberTypes = map[uint16]numberType{
	sass.TypeU8:  {8, false, nil},
	sass.TypeS8:  {8, true, nil},
	sass.TypeU16: {16, false, nil},
	sass.TypeS16: {16, true, nil},
	sass.TypeU32: {32, false, nil},
	sass.TypeS32: {32, true, nil},
	sass.TypeU64: {64, false, nil},
	sass.TypeS64: {64, true, nil},
	sass.TypeF16: {16, true, &formatF16},
	sass.TypeF32: {32, true, &formatF32},
	sass.TypeF64: {64, true, &formatF64},
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
		if c.from.width == 0 || c.to.width == 0 {
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
		case c.from.width == 64:
			kind = rawValue
		}
		return p.resolve(o, layoutB, kind)
	}
}

// run converts in the lanes that execute. Operands of 8 and 16 bits are picked from their register.
func (c *converter) run(w *warp, o *op) error {
	low := w.in(&o.b, 1)
	high := &zeroLanes
	if c.from.width == 64 {
		low, high = w.pair(&o.b, 1)
	}
	shift := int(o.b.swz) * c.from.width & 31
	d, e := w.out(o, 0), &w.res[1]
	if c.to.width == 64 {
		e = w.out(o, 1)
	}
	for i := range d {
		v := uint64(high[i])<<32 | uint64(low[i])
		if c.from.width < 32 {
			v = v >> shift & (1<<c.from.width - 1)
		}
		r := c.convert(c, v)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 1+c.to.width/64)
	return nil
}

// float returns a floating-point source value as f64, which holds every one exactly.
func (c *converter) float(v uint64) float64 {
	switch c.from.format {
	case &formatF16:
		return float64(f16ToF32(uint16(v)))
	case &formatF32:
		return f32Mode{ftz: c.ftz}.input(uint32(v))
	}
	return math.Float64frombits(v)
}

// f2f changes the width of a floating-point number.
func f2f(c *converter, v uint64) uint64 {
	if c.from.format == &formatF32 && c.ftz {
		v = uint64(flushF32(uint32(v)))
	}
	if c.from.format == c.to.format { // only modifiers
		v = c.to.format.convert(c.from.format, v, c.round)
	} else if c.from.format == &formatF32 && c.to.format == &formatF64 {
		v = bitsF64(float64(math.Float32frombits(uint32(v))))
	} else {
		v = c.to.format.convert(c.from.format, v, c.round)
	}
	if c.to.format == &formatF32 {
		if c.ftz {
			v = uint64(flushF32(uint32(v)))
		}
		if c.sat {
			v = uint64(saturateF32(uint32(v)))
		}
	}
	return v
}

// integral rounds to an integer in the given mode; RM, RP and RZ are .FLOOR, .CEIL and .TRUNC.
func integral(x float64, mode rounding) float64 {
	switch mode {
	case roundRM:
		return math.Floor(x)
	case roundRP:
		return math.Ceil(x)
	case roundRZ:
		return math.Trunc(x)
	}
	return math.RoundToEven(x)
}

// frnd rounds to an integral value of the same format.
func frnd(c *converter, v uint64) uint64 {
	x := integral(c.float(v), c.round)
	switch c.to.format {
	case &formatF16:
		return uint64(f16FromF64(x, roundRN))
	case &formatF32:
		return uint64(roundF32(x, roundRN))
	}
	return bitsF64(x)
}

// f2i saturates to the range of the integer type. NaN becomes 0 with .NTZ, else the highest bit alone.
func f2i(c *converter, v uint64) uint64 {
	x := c.float(v)
	if x != x {
		if c.ntz {
			return 0
		}
		return 1 << (c.to.width - 1)
	}
	x = integral(x, c.round)
	n := c.to.width
	if c.to.signed {
		limit := math.Ldexp(1, n-1)
		switch {
		case x >= limit:
			return 1<<(n-1) - 1
		case x < -limit:
			x = -limit
		}
		return uint64(int64(x)) & (math.MaxUint64 >> (64 - n))
	}
	switch {
	case x <= 0:
		return 0
	case x >= math.Ldexp(1, n):
		return math.MaxUint64 >> (64 - n)
	case x >= 1<<63:
		return 1<<63 | uint64(x-1<<63)
	}
	return uint64(x)
}

// i2f rounds an integer to a floating-point format.
func i2f(c *converter, v uint64) uint64 {
	neg := false
	if c.from.signed {
		shift := 64 - c.from.width
		if s := int64(v<<shift) >> shift; s < 0 {
			neg, v = true, uint64(-s)
		}
	}
	return c.to.format.pack(numberOf(neg, v), c.round)
}
