package emu

import (
	"math"

	"gpa/cubin/sass"
)

// A special is a function of the multi-function unit. The hardware's tables are not published; the model computes in
// f64 and rounds to nearest, which lies within the error that the PTX ISA states for every function. Denormal inputs
// and results are flushed.
type special func(x float64) float64

// specials holds the functions of one 32-bit operand.
var specials = map[uint16]special{
	sass.MufuCOS:  func(x float64) float64 { return math.Cos(turns(x)) },
	sass.MufuSIN:  func(x float64) float64 { return math.Sin(turns(x)) },
	sass.MufuEX2:  math.Exp2,
	sass.MufuLG2:  math.Log2,
	sass.MufuRCP:  func(x float64) float64 { return 1 / x },
	sass.MufuRSQ:  reciprocalRoot,
	sass.MufuSQRT: math.Sqrt,
}

// turns converts the argument of SIN and COS, which is in turns, to radians. The fraction of a turn is exact.
func turns(x float64) float64 { return math.Remainder(x, 1) * 2 * math.Pi }

// reciprocalRoot of -0 is minus infinity.
func reciprocalRoot(x float64) float64 {
	if x == 0 {
		return 1 / x
	}
	return 1 / math.Sqrt(x)
}

func compileMUFU(p *program, o *op) error {
	fn := o.inst.Mod(sass.MufuFn)
	sat := o.inst.Mod(sass.Sat) != 0
	switch f := specials[fn]; {
	case fn == sass.MufuRCP64H || fn == sass.MufuRSQ64H:
		o.mode, o.run = fn, mufu64
	case f == nil:
		return unsupported(o)
	default:
		o.run = func(w *warp, o *op) error { return mufu(w, o, f, sat) }
	}
	return p.resolve(o, layoutB, floatValue)
}

func mufu(w *warp, o *op, f special, sat bool) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for m, i := w.mask, 0; m != 0; m, i = m>>1, i+1 {
		if m&1 == 0 {
			continue
		}
		r := flushF32(bitsF32(float32(f(float64(math.Float32frombits(flushF32(b[i])))))))
		if sat {
			r = saturateF32(r)
		}
		d[i] = r
	}
	w.done(o, 1)
	return nil
}

// mufu64 works on the high word of an f64 and gives the high word of the result.
func mufu64(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	if o.b.value != nil && o.inst.Operands[1].Kind == sass.KindImm {
		b = o.b.high
	}
	for i := range d {
		high := b[i]
		if high&0x7ff00000 == 0 {
			high &= 0x80000000
		}
		x := math.Float64frombits(uint64(high) << 32)
		r := 1 / x
		if o.mode == sass.MufuRSQ64H {
			r = reciprocalRoot(x)
		}
		bits := bitsF64(r)
		if bits>>52&0x7ff == 0 {
			bits &= 1 << 63
		}
		d[i] = uint32(bits >> 32)
	}
	w.done(o, 1)
	return nil
}
