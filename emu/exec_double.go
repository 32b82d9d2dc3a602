package emu

import (
	"math"

	"gpa/cubin/sass"
)

// doubleCompilers are the double-precision instructions. Operands and results are pairs of registers.
var doubleCompilers = map[sass.Op]compiler{
	sass.DADD:  compileDouble(layoutAB, dadd),
	sass.DMUL:  compileDouble(layoutAB, dmul),
	sass.DFMA:  compileDouble(layoutABC, dfma),
	sass.DSETP: compileDSETP,
}

func compileDouble(l layout, run execFunc) compiler {
	return func(p *program, o *op) error {
		o.run, o.f32.round = run, rounding(o.inst.Mod(sass.Round))
		return p.resolve(o, l, doubleValue)
	}
}

func float64Of(low, high uint32) float64 {
	return math.Float64frombits(uint64(high)<<32 | uint64(low))
}

func dadd(w *warp, o *op) error {
	al, ah := w.pair(&o.a, 0)
	bl, bh := w.pair(&o.b, 1)
	d, e := w.out(o, 0), w.out(o, 1)
	for i := range d {
		r := addF64(float64Of(al[i], ah[i]), float64Of(bl[i], bh[i]), o.f32.round)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func dmul(w *warp, o *op) error {
	al, ah := w.pair(&o.a, 0)
	bl, bh := w.pair(&o.b, 1)
	d, e := w.out(o, 0), w.out(o, 1)
	for i := range d {
		r := mulF64(float64Of(al[i], ah[i]), float64Of(bl[i], bh[i]), o.f32.round)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func dfma(w *warp, o *op) error {
	al, ah := w.pair(&o.a, 0)
	bl, bh := w.pair(&o.b, 1)
	cl, ch := w.pair(&o.c, 2)
	d, e := w.out(o, 0), w.out(o, 1)
	for i := range d {
		r := fmaF64(float64Of(al[i], ah[i]), float64Of(bl[i], bh[i]), float64Of(cl[i], ch[i]), o.f32.round)
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func compileDSETP(p *program, o *op) error {
	o.run, o.mode = dsetp, o.inst.Mod(sass.Compare)
	if o.mode == sass.CompareMIN || o.mode == sass.CompareMAX {
		o.run = dsetpSelect
	}
	return p.resolve(o, layoutSetp, doubleValue)
}

func dsetp(w *warp, o *op) error {
	al, ah := w.pair(&o.a, 0)
	bl, bh := w.pair(&o.b, 1)
	var less, equal, unordered uint32
	for i := range al {
		x, y := float64Of(al[i], ah[i]), float64Of(bl[i], bh[i])
		switch {
		case x < y:
			less |= 1 << i
		case x == y:
			equal |= 1 << i
		case x != x || y != y:
			unordered |= 1 << i
		}
	}
	w.setCompared(o, compareFloats(o.mode, less, equal, unordered))
	return nil
}

// dsetpSelect is DSETP.MIN and .MAX, which compiled code uses for min and max only: the first predicate says that a is
// the result, the second that both operands are NaN.
func dsetpSelect(w *warp, o *op) error {
	al, ah := w.pair(&o.a, 0)
	bl, bh := w.pair(&o.b, 1)
	var first, nan uint32
	for i := range al {
		x, y := float64Of(al[i], ah[i]), float64Of(bl[i], bh[i])
		takeA := y != y
		switch {
		case x != x && y != y:
			nan |= 1 << i
		case x == x && y == y && o.mode == sass.CompareMIN:
			takeA = !lessF64(y, x)
		case x == x && y == y:
			takeA = !lessF64(x, y)
		}
		if takeA {
			first |= 1 << i
		}
	}
	w.set(o.pd, first)
	w.set(o.pe, nan)
	return nil
}
