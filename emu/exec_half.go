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
	sass.HMNMX2: compileHMNMX2,
}

// f16ModeOf reads the modifiers that f16 instructions share.
func f16ModeOf(in *sass.Inst) f16Mode {
	return f16Mode{ftz: flushes(in), sat: in.Mod(sass.Sat) != 0, brain: in.Mod(sass.BF16) != 0}
}

// Which half of the operands and of the result: the bit where it begins.
const (
	lowHalf  = 0
	highHalf = 16
)

// half returns what an operand gives to one half of the result, in the k-th scratch row. A single-precision register is
// converted toward zero, for both halves.
func (w *warp) half(o *op, s *source, k int, at uint) *doubles {
	v, x := w.in(s, k), &w.wide[k]
	switch s.swz {
	case sass.SwzF32: // brainHalf refuses it with bf16
		for i := range v {
			x[i] = o.f16.input(f16FromF64(float64(math.Float32frombits(v[i])), roundRZ))
		}
		return x
	case sass.SwzH0H0:
		at = lowHalf
	case sass.SwzH1H1:
		at = highHalf
	case sass.SwzH0NH1:
		at ^= highHalf
	}
	if o.f16.ftz || o.f16.brain {
		for i := range v {
			x[i] = o.f16.widen(uint16(v[i] >> (at & 31)))
		}
	} else {
		loadF16s(v, x, at)
	}
	if s.swz == sass.SwzH0NH1 && at == highHalf {
		for i := range x {
			x[i] = -x[i]
		}
	}
	return x
}

// halfOf returns what an operand selects for one half of the result out of a register.
func (s *source) halfOf(v uint32, at uint) uint16 {
	switch s.swz {
	case sass.SwzH0H0:
		at = lowHalf
	case sass.SwzH1H1, sass.SwzF32:
		at = highHalf // where the sign is
	}
	return uint16(v >> (at & 31))
}

// halves computes both halves of the result by f, which leaves a half in its row of f64.
func (w *warp) halves(o *op, f func(w *warp, o *op, at uint, x *doubles)) error {
	low, high, d := &w.wide[3], &w.wide[4], w.out(o, 0)
	f(w, o, lowHalf, low)
	f(w, o, highHalf, high)
	if o.f16 == (f16Mode{}) {
		for i := range d {
			d[i] = uint32(nearestF16(high[i]))<<16 | uint32(nearestF16(low[i]))
		}
	} else {
		for i := range d {
			d[i] = uint32(o.f16.result(high[i]))<<16 | uint32(o.f16.result(low[i]))
		}
	}
	w.done(o, 1)
	return nil
}

// nearestF16 rounds to nearest, the most usual values first.
func nearestF16(x float64) uint16 {
	if b := math.Float64bits(x); normalF16(b) {
		return roundNormalF16(b)
	}
	return f16FromF64(x, roundRN)
}

func compileHADD2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hadd2
	if err := brainHalf(o); err != nil {
		return err
	}
	singleHalf(o, addHalf)
	return p.resolve(o, layoutAB, halfValue)
}

func hadd2(w *warp, o *op) error { return w.halves(o, addHalf) }

func addHalf(w *warp, o *op, at uint, x *doubles) {
	a, b := w.half(o, &o.a, 0, at), w.half(o, &o.b, 1, at)
	if o.f16.brain {
		for i := range x {
			x[i] = addOdd(a[i], b[i], roundRN)
		}
		return
	}
	for i := range x {
		x[i] = a[i] + b[i]
	}
}

// brainHalf refuses operands and results of bf16 instructions in single precision.
func brainHalf(o *op) error {
	if o.inst.Mod(sass.BF16) == 0 {
		return nil
	}
	for i := range o.inst.Operands {
		if in := &o.inst.Operands[i]; o.inst.Mod(sass.OutF32) != 0 || in.Kind != sass.KindImm && in.Swz == sass.SwzF32 {
			return unsupported(o)
		}
	}
	return nil
}

// exactHalf refuses what compute code does not use: .FMZ.
func exactHalf(o *op) error {
	if o.inst.Mod(sass.FTZ) == sass.FTZFMZ {
		return unsupported(o)
	}
	return brainHalf(o)
}

// singleHalf makes the result one in single precision, of the low halves where operands do not choose, if the instruction says so: sums
// are how f16 is converted to f32, products are in the hand-written kernels of cuDNN for sm_75.
func singleHalf(o *op, of func(w *warp, o *op, at uint, x *doubles)) {
	if o.inst.Mod(sass.OutF32) == 0 {
		return
	}
	o.f32 = f32ModeOf(o.inst)
	o.run = func(w *warp, o *op) error {
		x, d := &w.wide[3], w.out(o, 0)
		of(w, o, lowHalf, x)
		for i := range d {
			d[i] = o.f32.result(x[i])
		}
		w.done(o, 1)
		return nil
	}
}

func compileHMUL2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hmul2
	if err := exactHalf(o); err != nil {
		return err
	}
	singleHalf(o, mulHalf)
	return p.resolve(o, layoutAB, halfValue)
}

func hmul2(w *warp, o *op) error { return w.halves(o, mulHalf) }

func mulHalf(w *warp, o *op, at uint, x *doubles) {
	a, b := w.half(o, &o.a, 0, at), w.half(o, &o.b, 1, at)
	for i := range x {
		x[i] = a[i] * b[i]
	}
}

func compileHFMA2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hfma2
	if o.f16.relu = o.inst.Mod(sass.Relu) != 0; o.f16.relu && o.f16.sat {
		return unsupported(o)
	}
	if err := exactHalf(o); err != nil {
		return err
	}
	if singleHalf(o, fmaHalf); o.inst.Mod(sass.OutF32) != 0 && o.f16.relu {
		return unsupported(o)
	}
	return p.resolve(o, layoutABC, halfValue)
}

func hfma2(w *warp, o *op) error { return w.halves(o, fmaHalf) }

// fmaHalf: the product of two f16 is exact in f64.
func fmaHalf(w *warp, o *op, at uint, x *doubles) {
	a, b, c := w.half(o, &o.a, 0, at), w.half(o, &o.b, 1, at), w.half(o, &o.c, 2, at)
	if o.f16.brain {
		for i := range x {
			x[i] = addOdd(a[i]*b[i], c[i], roundRN)
		}
		return
	}
	for i := range x {
		x[i] = float64(a[i]*b[i]) + c[i]
	}
}

// compileHSETP2 keeps how the comparison joins the source predicate in mode and the comparison in n.
func compileHSETP2(p *program, o *op) error {
	o.f16, o.run = f16ModeOf(o.inst), hsetp2
	o.mode, o.n = o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	if o.inst.Mod(sass.HAnd) != 0 {
		o.run = hsetp2And
	}
	if err := brainHalf(o); err != nil {
		return err
	}
	return p.resolve(o, layoutSetp, halfValue)
}

// compareHalves returns the lanes in which the comparison holds for the low and for the high halves.
func (w *warp) compareHalves(o *op) (low, high uint32) {
	compare := uint16(o.n)
	low = orderF64s.compare(compare, w.half(o, &o.a, 0, lowHalf), w.half(o, &o.b, 1, lowHalf))
	high = orderF64s.compare(compare, w.half(o, &o.a, 0, highHalf), w.half(o, &o.b, 1, highHalf))
	return low, high
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
		if o.f16.brain {
			yes = uint16(oneF32 >> 16)
		}
	}
	if err := brainHalf(o); err != nil {
		return err
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

// compileHMNMX2: minimum where the predicate holds, else maximum, of each half.
func compileHMNMX2(p *program, o *op) error {
	o.f16 = f16ModeOf(o.inst)
	nan := o.inst.Mod(sass.NaN) != 0
	if err := brainHalf(o); err != nil {
		return err
	}
	if err := p.resolve(o, layoutABP, halfValue); err != nil {
		return err
	}
	xor, err := p.compileXorSign(o)
	o.run = func(w *warp, o *op) error { return hmnmx2(w, o, nan, xor) }
	return err
}

func hmnmx2(w *warp, o *op, nan, xor bool) error {
	smaller, d, r := w.get(o.pp), w.out(o, 0), new(lanes)
	for _, at := range []uint{lowHalf, highHalf} {
		a, b := w.half(o, &o.a, 0, at), w.half(o, &o.b, 1, at)
		for i := range r {
			m := minmaxF64(a[i], b[i], smaller>>i&1 != 0, nan)
			h := o.f16.result(m)
			if xor && m == m {
				h |= (o.a.halfOf(w.raw(&o.a)[i], at) ^ o.c.halfOf(w.raw(&o.c)[i], at)) & signF16
			}
			r[i] |= uint32(h) << at
		}
	}
	*d = *r
	w.done(o, 1)
	return nil
}

// minmaxF64 is the smaller or the larger number, -0 being smaller than +0. One NaN gives the other number, or a NaN if it is to.
func minmaxF64(a, b float64, smaller, nan bool) float64 {
	switch {
	case a != a && b != b || nan && (a != a || b != b):
		return math.NaN()
	case a != a:
		return b
	case b != b:
		return a
	case smaller:
		return min(a, b)
	}
	return max(a, b)
}
