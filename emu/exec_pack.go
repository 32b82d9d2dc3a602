package emu

import (
	"math"

	"gpa/cubin/sass"
)

// packCompilers are the conversions at full rate: of two f32 to a packed pair of halves, a high and b low, and of an integer
// to f32.
var packCompilers = map[sass.Op]compiler{
	sass.F2FP: compileF2FP,
	sass.I2FP: compileConversion,
}

func compileF2FP(p *program, o *op) error {
	narrow := func(x uint32) uint16 { return f16FromF64(float64(math.Float32frombits(x)), roundRN) }
	if o.inst.Mod(sass.DstType) == sass.TypeBF16 {
		narrow = bf16FromF32
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

// bf16FromF32 rounds to the nearest, to even between two. A NaN becomes the canonical one.
func bf16FromF32(x uint32) uint16 {
	if x&^signF32 > infF32 {
		return 0x7fff
	}
	return uint16((x + 0x7fff + x>>16&1) >> 16)
}

func bf16ToF64(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }
