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
}

// compileF2FP: the formats of 8 bits and of tensor cores are not supported.
func compileF2FP(p *program, o *op) error {
	in := o.inst
	format, mode := &formatF16, rounding(in.Mod(sass.Round))
	switch typ := in.Mod(sass.DstType); {
	case typ == sass.TypeBF16:
		format = &formatBF16
	case typ != sass.TypeF16 || in.Mod(sass.SrcType) != sass.TypeF32:
		return unsupported(o)
	}
	if in.Mod(sass.Merge) != 0 || in.Mod(sass.Sat) != 0 {
		return unsupported(o)
	}
	relu := in.Mod(sass.Relu) != 0
	narrow := func(x uint32) uint16 {
		if relu && x&signF32 != 0 && !isNaNF32(x) {
			return 0
		}
		return uint16(format.convert(&formatF64, bitsF64(float64(math.Float32frombits(x))), mode))
	}
	o.run = func(w *warp, o *op) error {
		a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
		for i := range d {
			d[i] = packHalves(narrow(b[i]), narrow(a[i]))
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutAB, floatValue)
}

func bf16ToF64(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }

// bf16FromF64 rounds to nearest.
func bf16FromF64(x float64) uint16 {
	return uint16(formatBF16.convert(&formatF64, bitsF64(x), roundRN))
}

// compileI2I clamps a signed integer to the range of a narrower type.
func compileI2I(p *program, o *op) error {
	t := numberTypeOf(o.inst.Mod(sass.DstType)).intType
	low, high := int32(0), int32(1)<<t.bits-1
	if t.signed {
		low, high = -1<<(t.bits-1), 1<<(t.bits-1)-1
	}
	o.run = func(w *warp, o *op) error {
		b, d := w.in(&o.b, 1), w.out(o, 0)
		for i := range d {
			d[i] = uint32(max(low, min(high, int32(b[i]))))
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutB, intValue)
}
