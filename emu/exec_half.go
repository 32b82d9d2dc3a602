package emu

import (
	"math"

	"gpa/cubin/sass"
)

// halfCompilers are the instructions on packed half precision: each works on the low and on the high halves.
var halfCompilers = map[sass.Op]compiler{
	sass.HADD2:  compileHADD2,
	sass.HMUL2:  compileHMUL2,
	sass.HFMA2:  compileHFMA2,
	sass.HSETP2: compileHSETP2,
	sass.HSET2:  compileHSET2,
}

// f16ModeOf reads the modifiers that f16 instructions share.
func f16ModeOf(in *sass.Inst) f16Mode { return f16Mode{ftz: flushes(in), sat: in.Mod(sass.Sat) != 0} }

// halves returns the values of an operand's low and high halves, in the k-th scratch rows. A single-precision register
// is converted toward zero, for both.
func (w *warp) halves(o *op, s *source, k int) (low, high *doubles) {
	v := w.in(s, k)
	low, high = &w.wide[k], &w.wide[k+3]
	if s.swz == sass.SwzF32 {
		for i := range v {
			x := o.f16.input(f16FromF64(float64(math.Float32frombits(v[i])), roundRZ))
			low[i], high[i] = x, x
		}
		return low, high
	}
	if s.swz != sass.SwzH1H1 {
		w.widen(o, low, v, 0)
	}
	if s.swz != sass.SwzH0H0 {
		w.widen(o, high, v, 16)
	}
	switch s.swz {
	case sass.SwzH0H0:
		high = low
	case sass.SwzH1H1:
		low = high
	}
	return low, high
}

// widen converts the halves that begin at a bit.
func (w *warp) widen(o *op, to *doubles, v *lanes, at uint) {
	for i := range v {
		h := uint16(v[i] >> (at & 31))
		if o.f16.ftz {
			h = flushF16(h)
		}
		to[i] = float64(f16ToF32(h))
	}
}

// packHalves rounds two results a lane to f16 and stores them.
func (w *warp) packHalves(o *op, low, high *doubles) {
	d := w.out(o, 0)
	if o.f16 == (f16Mode{}) {
		for i := range d {
			d[i] = packHalves(f16FromF64(low[i], roundRN), f16FromF64(high[i], roundRN))
		}
	} else {
		for i := range d {
			d[i] = packHalves(o.f16.result(low[i]), o.f16.result(high[i]))
		}
	}
	w.done(o, 1)
}

// compileHADD2: with .F32 the result is the sum of the low halves in single precision, which is how f16 is converted to
// f32.
func compileHADD2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hadd2
	if o.inst.Mod(sass.OutF32) != 0 {
		o.f32, o.run = f32ModeOf(o.inst), hadd2F32
	}
	return p.resolve(o, layoutAB, halfValue)
}

func hadd2(w *warp, o *op) error {
	al, ah := w.halves(o, &o.a, 0)
	bl, bh := w.halves(o, &o.b, 1)
	low, high := &w.wide[2], &w.wide[5]
	for i := range low {
		low[i], high[i] = al[i]+bl[i], ah[i]+bh[i]
	}
	w.packHalves(o, low, high)
	return nil
}

func hadd2F32(w *warp, o *op) error {
	a, _ := w.halves(o, &o.a, 0)
	b, _ := w.halves(o, &o.b, 1)
	d := w.out(o, 0)
	for i := range d {
		d[i] = o.f32.result(a[i] + b[i])
	}
	w.done(o, 1)
	return nil
}

// exactHalf refuses what compute code does not use: single-precision results of products, and .FMZ.
func exactHalf(o *op) error {
	if o.inst.Mod(sass.OutF32) != 0 || o.inst.Mod(sass.FTZ) == sass.FTZFMZ {
		return unsupported(o)
	}
	return nil
}

func compileHMUL2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hmul2
	if err := exactHalf(o); err != nil {
		return err
	}
	return p.resolve(o, layoutAB, halfValue)
}

func hmul2(w *warp, o *op) error {
	al, ah := w.halves(o, &o.a, 0)
	bl, bh := w.halves(o, &o.b, 1)
	low, high := &w.wide[2], &w.wide[5]
	for i := range low {
		low[i], high[i] = al[i]*bl[i], ah[i]*bh[i]
	}
	w.packHalves(o, low, high)
	return nil
}

// compileHFMA2: the constants that compiled code loads by -0 * 0 + immediate are moves.
func compileHFMA2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hfma2
	if err := exactHalf(o); err != nil {
		return err
	}
	return p.resolve(o, layoutABC, halfValue)
}

func hfma2(w *warp, o *op) error {
	al, ah := w.halves(o, &o.a, 0)
	bl, bh := w.halves(o, &o.b, 1)
	cl, ch := w.halves(o, &o.c, 2)
	low, high := &w.wide[2], &w.wide[5]
	for i := range low {
		// The addend may lie in the rows of the result, as both halves of one register.
		x, y := float64(al[i]*bl[i])+cl[i], float64(ah[i]*bh[i])+ch[i]
		low[i], high[i] = x, y
	}
	w.packHalves(o, low, high)
	return nil
}

// compileHSETP2 keeps how the comparison joins the source predicate in mode and the comparison in n.
func compileHSETP2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hsetp2
	o.mode, o.n = o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	if o.inst.Mod(sass.HAnd) != 0 {
		o.run = hsetp2And
	}
	return p.resolve(o, layoutSetp, halfValue)
}

// compareHalves returns the lanes in which the comparison holds for the low and for the high halves.
func (w *warp) compareHalves(o *op) (low, high uint32) {
	al, ah := w.halves(o, &o.a, 0)
	bl, bh := w.halves(o, &o.b, 1)
	return orderF64s.compare(uint16(o.n), al, bl), orderF64s.compare(uint16(o.n), ah, bh)
}

// hsetp2 sets the first predicate from the low halves and the second from the high ones.
func hsetp2(w *warp, o *op) error {
	low, high := w.compareHalves(o)
	with := w.get(o.pp)
	w.set(o.pd, combine(o.mode, low, with))
	w.set(o.pe, combine(o.mode, high, with))
	return nil
}

// hsetp2And sets the first predicate where both hold, the second where not.
func hsetp2And(w *warp, o *op) error {
	low, high := w.compareHalves(o)
	w.setCompared(o, low&high)
	return nil
}

// compileHSET2 is compileHSETP2 with a value for true.
func compileHSET2(p *program, o *op) error {
	o.f16 = f16ModeOf(o.inst)
	o.mode, o.n = o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	yes := uint16(0xffff)
	if o.inst.Mod(sass.BF) != 0 {
		yes = oneF16
	}
	o.run = func(w *warp, o *op) error { return hset2(w, o, uint32(yes)) }
	return p.resolve(o, layoutABP, halfValue)
}

func hset2(w *warp, o *op, yes uint32) error {
	low, high := w.compareHalves(o)
	with, d := w.get(o.pp), w.out(o, 0)
	low, high = combine(o.mode, low, with), combine(o.mode, high, with)
	for i := range d {
		d[i] = yes&-(low>>i&1) | yes<<16&-(high>>i&1)
	}
	w.done(o, 1)
	return nil
}
