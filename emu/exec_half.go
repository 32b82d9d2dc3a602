package emu

import (
	"gpa/cubin/sass"
)

// halfCompilers are the instructions on packed half precision.
var halfCompilers = map[sass.Op]compiler{
	sass.HADD2:  compileHalf(layoutAB, func(m f16Mode, a, b, _ uint16) uint16 { return m.add(a, b) }),
	sass.HMUL2:  compileHalf(layoutAB, func(m f16Mode, a, b, _ uint16) uint16 { return m.mul(a, b) }),
	sass.HFMA2:  compileHalf(layoutABC, f16Mode.fma),
	sass.HSETP2: compileHSETP2,
	sass.HSET2:  compileHSET2,
}

// halfOf returns one of the two halves that an operand gives: k is 0 for the low one. A single-precision register is
// converted toward zero.
func (s *source) halfOf(v uint32, k int) uint16 {
	switch s.swz {
	case sass.SwzF32:
		return f16FromF64(f32Mode{}.input(v), roundRZ)
	case sass.SwzH0H0:
		k = 0
	case sass.SwzH1H1:
		k = 1
	}
	return uint16(v >> (16 * k))
}

// compileHalf makes the compiler of an instruction that does f to both halves. With .F32 the result is one
// single-precision number: that of the low halves.
func compileHalf(l layout, f func(m f16Mode, a, b, c uint16) uint16) compiler {
	return func(p *program, o *op) error {
		o.f16 = f16Mode{ftz: o.inst.Mod(sass.FTZ) != sass.FTZNone, sat: o.inst.Mod(sass.Sat) != 0}
		o.run = func(w *warp, o *op) error { return half2(w, o, f) }
		if o.inst.Mod(sass.OutF32) != 0 {
			if o.inst.Op != sass.HADD2 {
				return unsupported(o)
			}
			o.run = hadd2F32
		}
		return p.resolve(o, l, halfValue)
	}
}

func half2(w *warp, o *op, f func(m f16Mode, a, b, c uint16) uint16) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		low := f(o.f16, o.a.halfOf(a[i], 0), o.b.halfOf(b[i], 0), o.c.halfOf(c[i], 0))
		high := f(o.f16, o.a.halfOf(a[i], 1), o.b.halfOf(b[i], 1), o.c.halfOf(c[i], 1))
		d[i] = packHalves(low, high)
	}
	w.done(o, 1)
	return nil
}

// hadd2F32 is the sum of two halves in single precision; conversions to single precision are this with -0.
func hadd2F32(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	m := f32ModeOf(o.inst)
	for i := range d {
		d[i] = m.result(o.f16.input(o.a.halfOf(a[i], 0)) + o.f16.input(o.b.halfOf(b[i], 0)))
	}
	w.done(o, 1)
	return nil
}

// compareHalves returns the lanes in which the comparison holds for the low and for the high halves.
func compareHalves(o *op, a, b *lanes) (results [2]uint32) {
	for k := range results {
		var less, equal, unordered uint32
		for i := range a {
			x, y := o.f16.input(o.a.halfOf(a[i], k)), o.f16.input(o.b.halfOf(b[i], k))
			switch {
			case x < y:
				less |= 1 << i
			case x == y:
				equal |= 1 << i
			case x != x || y != y:
				unordered |= 1 << i
			}
		}
		results[k] = compareFloats(o.mode, less, equal, unordered)
	}
	return results
}

func compileHSETP2(p *program, o *op) error {
	o.run, o.mode = hsetp2, o.inst.Mod(sass.Compare)
	o.f16.ftz = o.inst.Mod(sass.FTZ) != sass.FTZNone
	return p.resolve(o, layoutSetp, halfValue)
}

// hsetp2 sets the first predicate from the low halves and the second from the high ones; with .H_AND the first says that
// both hold and the second that they do not.
func hsetp2(w *warp, o *op) error {
	r := compareHalves(o, w.in(&o.a, 0), w.in(&o.b, 1))
	if o.inst.Mod(sass.HAnd) != 0 {
		both := r[0] & r[1]
		r = [2]uint32{both, ^both}
	}
	with, boolOp := w.get(o.pp), o.inst.Mod(sass.BoolOp)
	w.set(o.pd, combine(boolOp, r[0], with))
	w.set(o.pe, combine(boolOp, r[1], with))
	return nil
}

func compileHSET2(p *program, o *op) error {
	o.run, o.mode, o.n = hset2, o.inst.Mod(sass.Compare), 0xffff
	if o.inst.Mod(sass.BF) != 0 {
		o.n = uint32(oneF16)
	}
	o.f16.ftz = o.inst.Mod(sass.FTZ) != sass.FTZNone
	return p.resolve(o, layoutABP, halfValue)
}

// hset2 is n in the halves in which the comparison holds, else 0.
func hset2(w *warp, o *op) error {
	r := compareHalves(o, w.in(&o.a, 0), w.in(&o.b, 1))
	with, boolOp := w.get(o.pp), o.inst.Mod(sass.BoolOp)
	low, high := combine(boolOp, r[0], with), combine(boolOp, r[1], with)
	d := w.out(o, 0)
	for i := range d {
		d[i] = o.n&-(low>>i&1) | o.n<<16&-(high>>i&1)
	}
	w.done(o, 1)
	return nil
}
