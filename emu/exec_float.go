package emu

import "gpa/cubin/sass"

// floatCompilers are the single-precision instructions.
var floatCompilers = map[sass.Op]compiler{
	sass.FADD:   compileFADD,
	sass.FMUL:   compileFMUL,
	sass.FFMA:   compileFFMA,
	sass.FMNMX:  compileFMNMX,
	sass.FMNMX3: compileFMNMX3,
	sass.FSEL:   compileFSEL,
	sass.FSETP:  compileFSETP,
	sass.FSET:   compileFSET,
	sass.FCHK:   simple(layout{none, 0, none, 1, 2, none, none, none}, floatValue, fchk),
}

// f32ModeOf reads the modifiers that f32 instructions share.
func f32ModeOf(in *sass.Inst) f32Mode {
	return f32Mode{round: rounding(in.Mod(sass.Round)), ftz: flushes(in), sat: in.Mod(sass.Sat) != 0}
}

func flushes(in *sass.Inst) bool { return in.Mod(sass.FTZ) != sass.FTZNone }

// choose picks the executor for a mode: one for Go's own arithmetic, one that flushes denormals beside that, or the one
// that looks at the mode.
func (m f32Mode) choose(plain, flush, general execFunc) execFunc {
	switch m {
	case f32Mode{}:
		return plain
	case f32Mode{ftz: true}:
		return flush
	}
	return general
}

func compileFADD(p *program, o *op) error {
	o.f32 = f32ModeOf(o.inst)
	o.run = o.f32.choose(fadd, faddFlush, faddMode)
	return p.resolve(o, layoutAB, floatValue)
}

func fadd(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.AddFloat(d, a, b)
	w.done(o, 1)
	return nil
}

func faddFlush(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.AddFlush(d, a, b)
	w.done(o, 1)
	return nil
}

func faddMode(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.add(a[i], b[i])
	}
	w.done(o, 1)
	return nil
}

// scales are the factors of FMUL's products: .D2 halves, .M2 doubles (Mesa, nv50_ir.h: postFactor).
var scales = map[uint16]float64{sass.ScaleD8: 1. / 8, sass.ScaleD4: 1. / 4, sass.ScaleD2: 1. / 2, sass.ScaleM2: 2, sass.ScaleM4: 4, sass.ScaleM8: 8}

// compileFMUL: .FMZ, which makes 0*x = 0, does not occur in compute code.
func compileFMUL(p *program, o *op) error {
	if o.inst.Mod(sass.FTZ) == sass.FTZFMZ {
		return unsupported(o)
	}
	o.f32 = f32ModeOf(o.inst)
	o.run = o.f32.choose(fmul, fmulFlush, fmulMode)
	if scale, ok := scales[o.inst.Mod(sass.Scale)]; ok {
		o.run = func(w *warp, o *op) error { return fmulScaled(w, o, scale) }
	}
	return p.resolve(o, layoutAB, floatValue)
}

// fmulScaled rounds the product and its factor, which f64 holds exactly, once.
func fmulScaled(w *warp, o *op, scale float64) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.result(o.f32.input(a[i]) * o.f32.input(b[i]) * scale)
	}
	w.done(o, 1)
	return nil
}

func fmul(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.MulFloat(d, a, b)
	w.done(o, 1)
	return nil
}

func fmulFlush(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.MulFlush(d, a, b)
	w.done(o, 1)
	return nil
}

func fmulMode(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.mul(a[i], b[i])
	}
	w.done(o, 1)
	return nil
}

func compileFFMA(p *program, o *op) error {
	if o.inst.Mod(sass.FTZ) == sass.FTZFMZ {
		return unsupported(o)
	}
	o.f32 = f32ModeOf(o.inst)
	o.run = o.f32.choose(ffma, ffmaFlush, ffmaMode)
	return p.resolve(o, layoutABC, floatValue)
}

func ffma(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.FMA(d, a, b, c)
	w.done(o, 1)
	return nil
}

func ffmaFlush(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.FMAFlush(d, a, b, c)
	w.done(o, 1)
	return nil
}

func ffmaMode(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.fma(a[i], b[i], c[i])
	}
	w.done(o, 1)
	return nil
}

func compileFMNMX(p *program, o *op) error {
	o.f32, o.run = f32ModeOf(o.inst), fmnmx
	if err := p.resolve(o, layoutABP, floatValue); err != nil {
		return err
	}
	xor, err := p.compileXorSign(o)
	if nan := o.inst.Mod(sass.NaN) != 0; nan || xor {
		o.run = func(w *warp, o *op) error { return fmnmxSpecial(w, o, nan, xor) }
	}
	return err
}

// compileFMNMX3: the extreme of three. NaNs are left out of account, but with .NAN one makes the result NaN.
func compileFMNMX3(p *program, o *op) error {
	nan := o.inst.Mod(sass.NaN) != 0
	o.f32 = f32ModeOf(o.inst)
	o.run = func(w *warp, o *op) error {
		a, b, c := w.flushed(o, w.in(&o.a, 0), 0), w.flushed(o, w.in(&o.b, 1), 1), w.flushed(o, w.in(&o.c, 2), 2)
		d, smaller := w.out(o, 0), w.get(o.pp)
		for i := range d {
			extreme := maxF32
			if smaller>>i&1 != 0 {
				extreme = minF32
			}
			d[i] = extreme(extreme(a[i], b[i]), c[i])
			if nan && (isNaNF32(a[i]) || isNaNF32(b[i]) || isNaNF32(c[i])) {
				d[i] = nanF32
			}
		}
		w.done(o, 1)
		return nil
	}
	return p.resolve(o, layoutABCP, floatValue)
}

// fmnmxSpecial is fmnmx whose result is the canonical NaN where a source is one, or has the XOR of the sources' signs.
func fmnmxSpecial(w *warp, o *op, nan, xor bool) error {
	a, b, smaller := w.flushed(o, w.in(&o.a, 0), 0), w.flushed(o, w.in(&o.b, 1), 1), w.get(o.pp)
	d := w.out(o, 0)
	var x, y *lanes // with their signs
	if xor {
		x, y = w.raw(&o.a), w.raw(&o.c)
	}
	for i := range d {
		r := minF32(a[i], b[i])
		if smaller>>i&1 == 0 {
			r = maxF32(a[i], b[i])
		}
		switch {
		case nan && (isNaNF32(a[i]) || isNaNF32(b[i])):
			r = nanF32
		case xor && !isNaNF32(r):
			r |= (x[i] ^ y[i]) & signF32
		}
		d[i] = r
	}
	w.done(o, 1)
	return nil
}

// fmnmx is the smaller operand where the predicate is true, else the larger one.
func fmnmx(w *warp, o *op) error {
	a, b, d := w.flushed(o, w.in(&o.a, 0), 0), w.flushed(o, w.in(&o.b, 1), 1), w.out(o, 0)
	w.extreme(d, a, b, w.get(o.pp), lanewise.MinFloat, lanewise.MaxFloat)
	w.done(o, 1)
	return nil
}

// flushed returns the values with their denormals flushed, in the k-th scratch register, if the mode says so.
func (w *warp) flushed(o *op, v *lanes, k int) *lanes {
	if !o.f32.ftz {
		return v
	}
	t := &w.tmp[k][0]
	lanewise.Flush(t, v)
	return t
}

// compileFSEL: a selection is bit-exact but for .FTZ.
func compileFSEL(p *program, o *op) error {
	o.run = sel
	if flushes(o.inst) {
		o.run = fselFlush
	}
	return p.resolve(o, layoutABP, floatValue)
}

func fselFlush(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.Choose(d, a, b, w.get(o.pp))
	lanewise.Flush(d, d)
	w.done(o, 1)
	return nil
}

// An orderer compares the values of a floating-point format, lane by lane: which of a are less than b, which less or
// equal, which equal. None is true of a NaN.
type orderer[T any] struct {
	less, lessEqual, equal func(a, b T) uint32
}

// compare returns the lanes in which a comparison holds. Those with a U, and T, are the complements of those without,
// and F, of the opposite relation.
func (f *orderer[T]) compare(compare uint16, a, b T) uint32 {
	if compare >= sass.CompareNAN {
		return ^f.compare(sass.CompareT-compare, a, b)
	}
	switch compare {
	case sass.CompareLT:
		return f.less(a, b)
	case sass.CompareEQ:
		return f.equal(a, b)
	case sass.CompareLE:
		return f.lessEqual(a, b)
	case sass.CompareGT:
		return f.less(b, a)
	case sass.CompareNE:
		return f.less(a, b) | f.less(b, a)
	case sass.CompareGE:
		return f.lessEqual(b, a)
	case sass.CompareNUM:
		return f.equal(a, a) & f.equal(b, b)
	}
	return 0
}

var orderF32s = orderer[*lanes]{lanewise.LessFloat, lanewise.LessEqualFloat, lanewise.EqualFloat}

// compileFSETP keeps how the comparison joins the source predicate in mode and the comparison in n.
func compileFSETP(p *program, o *op) error {
	o.run, o.f32 = fsetp, f32ModeOf(o.inst)
	o.mode, o.n = o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	return p.resolve(o, layoutSetp, floatValue)
}

func fsetp(w *warp, o *op) error {
	w.setCompared(o, w.compareF32s(o))
	return nil
}

func (w *warp) compareF32s(o *op) uint32 {
	a, b := w.flushed(o, w.in(&o.a, 0), 0), w.flushed(o, w.in(&o.b, 1), 1)
	return orderF32s.compare(uint16(o.n), a, b)
}

// compileFSET is compileFSETP with a value for true.
func compileFSET(p *program, o *op) error {
	o.f32 = f32ModeOf(o.inst)
	o.mode, o.n = o.inst.Mod(sass.BoolOp), uint32(o.inst.Mod(sass.Compare))
	yes := allLanes
	if o.inst.Mod(sass.BF) != 0 {
		yes = oneF32
	}
	o.run = func(w *warp, o *op) error { return fset(w, o, yes) }
	return p.resolve(o, layoutABP, floatValue)
}

func fset(w *warp, o *op, yes uint32) error {
	r := combine(o.mode, w.compareF32s(o), w.get(o.pp))
	d := w.out(o, 0)
	lanewise.Fill(d, yes, r)
	w.done(o, 1)
	return nil
}

func fchk(w *warp, o *op) error {
	a, b := w.in(&o.a, 0), w.in(&o.b, 1)
	var r uint32
	for i := range a {
		if divideUnsafe(a[i], b[i]) {
			r |= 1 << i
		}
	}
	w.set(o.pd, r)
	return nil
}
