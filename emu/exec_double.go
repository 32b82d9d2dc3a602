package emu

import (
	"math"

	"gpa/cubin/sass"
)

// doubleCompilers are the double-precision instructions. Operands and results are pairs of registers.
var doubleCompilers = map[sass.Op]compiler{
	sass.DADD:  compileDouble(layoutAB, dadd, daddMode),
	sass.DMUL:  compileDouble(layoutAB, dmul, dmulMode),
	sass.DFMA:  compileDouble(layoutABC, dfma, dfmaMode),
	sass.DSETP: compileDSETP,
}

// compileDouble makes the compiler of an instruction with one executor for rounding to nearest and one for all modes.
func compileDouble(l layout, nearest, general execFunc) compiler {
	return func(p *program, o *op) error {
		o.run, o.f32.round = nearest, rounding(o.inst.Mod(sass.Round))
		if o.f32.round != roundRN {
			o.run = general
		}
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
		r := bitsF64(float64Of(al[i], ah[i]) + float64Of(bl[i], bh[i]))
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func daddMode(w *warp, o *op) error {
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
		r := bitsF64(float64Of(al[i], ah[i]) * float64Of(bl[i], bh[i]))
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func dmulMode(w *warp, o *op) error {
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
		r := bitsF64(math.FMA(float64Of(al[i], ah[i]), float64Of(bl[i], bh[i]), float64Of(cl[i], ch[i])))
		d[i], e[i] = uint32(r), uint32(r>>32)
	}
	w.done(o, 2)
	return nil
}

func dfmaMode(w *warp, o *op) error {
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

// doubles are one f64 a lane.
type doubles = [32]float64

var orderF64s = orderer[*doubles]{lessF64s, lessEqualF64s, equalF64s}

func lessF64s(a, b *doubles) (r uint32) {
	for i := range a {
		if a[i] < b[i] {
			r |= 1 << i
		}
	}
	return r
}

func lessEqualF64s(a, b *doubles) (r uint32) {
	for i := range a {
		if a[i] <= b[i] {
			r |= 1 << i
		}
	}
	return r
}

func equalF64s(a, b *doubles) (r uint32) {
	for i := range a {
		if a[i] == b[i] {
			r |= 1 << i
		}
	}
	return r
}

// compileDSETP keeps how the comparison joins the source predicate in mode and the comparison in n.
func compileDSETP(p *program, o *op) error {
	o.run, o.mode, o.n = dsetp, o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	if o.n == uint32(sass.CompareMIN) || o.n == uint32(sass.CompareMAX) {
		o.run = dsetpSelect
	}
	return p.resolve(o, layoutSetp, doubleValue)
}

func dsetp(w *warp, o *op) error {
	a, b := w.doubles(&o.a, 0), w.doubles(&o.b, 1)
	w.setCompared(o, orderF64s.compare(uint16(o.n), a, b))
	return nil
}

// doubles returns the values of an f64 operand in the k-th scratch row.
func (w *warp) doubles(s *source, k int) *doubles {
	low, high := w.pair(s, k)
	t := &w.wide[k]
	for i := range t {
		t[i] = float64Of(low[i], high[i])
	}
	return t
}

// dsetpSelect is DSETP.MIN and .MAX, which compiled code uses for min and max only: the first predicate says that a is
// the result, the second that both operands are NaN.
func dsetpSelect(w *warp, o *op) error {
	a, b := w.doubles(&o.a, 0), w.doubles(&o.b, 1)
	smaller := o.n == uint32(sass.CompareMIN)
	var first, nan uint32
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x != x && y != y:
			first, nan = first|1<<i, nan|1<<i
		case y != y, smaller && x == x && !lessF64(y, x), !smaller && x == x && !lessF64(x, y):
			first |= 1 << i
		}
	}
	w.set(o.pd, first)
	w.set(o.pe, nan)
	return nil
}
