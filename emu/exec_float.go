package emu

import (
	"math"

	"gpa/cubin/sass"
)

// floatCompilers are the single-precision instructions.
var floatCompilers = map[sass.Op]compiler{
	sass.FADD:  compileFADD,
	sass.FMUL:  compileFMUL,
	sass.FFMA:  compileFFMA,
	sass.FMNMX: compileFMNMX,
	sass.FSEL:  compileFSEL,
	sass.FSETP: compileFSETP,
	sass.FSET:  compileFSET,
	sass.FCHK:  simple(layout{none, 0, none, 1, 2, none, none, none}, floatValue, fchk),
	sass.MUFU:  compileMUFU,
}

// f32ModeOf reads the modifiers that f32 instructions share.
func f32ModeOf(in *sass.Inst) f32Mode {
	return f32Mode{round: rounding(in.Mod(sass.Round)), ftz: in.Mod(sass.FTZ) != sass.FTZNone, sat: in.Mod(sass.Sat) != 0}
}

// plain reports whether the mode is that of Go's arithmetic.
func (m f32Mode) plain() bool { return m == f32Mode{} }

func compileFADD(p *program, o *op) error {
	o.f32, o.run = f32ModeOf(o.inst), fadd
	if o.f32.plain() {
		o.run = faddPlain
	}
	return p.resolve(o, layoutAB, floatValue)
}

func fadd(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.add(a[i], b[i])
	}
	w.done(o, 1)
	return nil
}

func faddPlain(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
	}
	w.done(o, 1)
	return nil
}

// bitsF32 returns the bits of a result, NaN in its canonical form.
func bitsF32(f float32) uint32 {
	if f != f {
		return nanF32
	}
	return math.Float32bits(f)
}

func compileFMUL(p *program, o *op) error {
	o.f32, o.run = f32ModeOf(o.inst), fmul
	switch {
	case o.inst.Mod(sass.Scale) != sass.ScaleNone || o.inst.Mod(sass.FTZ) == sass.FTZFMZ:
		return unsupported(o)
	case o.f32.plain():
		o.run = fmulPlain
	}
	return p.resolve(o, layoutAB, floatValue)
}

func fmul(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.mul(a[i], b[i])
	}
	w.done(o, 1)
	return nil
}

func fmulPlain(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
	}
	w.done(o, 1)
	return nil
}

func compileFFMA(p *program, o *op) error {
	o.f32, o.run = f32ModeOf(o.inst), ffma
	switch {
	case o.inst.Mod(sass.FTZ) == sass.FTZFMZ:
		return unsupported(o)
	case o.f32.plain():
		o.run = ffmaPlain
	}
	return p.resolve(o, layoutABC, floatValue)
}

func ffma(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = o.f32.fma(a[i], b[i], c[i])
	}
	w.done(o, 1)
	return nil
}

func ffmaPlain(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		x, y, z := math.Float32frombits(a[i]), math.Float32frombits(b[i]), math.Float32frombits(c[i])
		s := float64(float64(x)*float64(y)) + float64(z)
		if singleRounding(s) {
			d[i] = math.Float32bits(float32(s))
		} else {
			d[i] = fmaF32Slow(x, y, z)
		}
	}
	w.done(o, 1)
	return nil
}

func compileFMNMX(p *program, o *op) error {
	o.f32, o.run = f32ModeOf(o.inst), fmnmx
	return p.resolve(o, layoutABP, floatValue)
}

// fmnmx is the smaller operand where the predicate is true, else the larger one.
func fmnmx(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	smaller := w.get(o.pp)
	for i := range d {
		x, y := a[i], b[i]
		if o.f32.ftz {
			x, y = flushF32(x), flushF32(y)
		}
		if smaller>>i&1 != 0 {
			d[i] = minF32(x, y)
		} else {
			d[i] = maxF32(x, y)
		}
	}
	w.done(o, 1)
	return nil
}

// compileFSEL: a selection is bit-exact but for .FTZ.
func compileFSEL(p *program, o *op) error {
	o.run = sel
	if o.inst.Mod(sass.FTZ) != sass.FTZNone {
		o.run = fselFlush
	}
	return p.resolve(o, layoutABP, floatValue)
}

func fselFlush(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	p := w.get(o.pp)
	for i := range d {
		v := b[i]
		if p>>i&1 != 0 {
			v = a[i]
		}
		d[i] = flushF32(v)
	}
	w.done(o, 1)
	return nil
}

// compareFloats returns the lanes in which a comparison holds, from those that are less, equal and unordered.
func compareFloats(mode uint16, less, equal, unordered uint32) uint32 {
	switch {
	case mode == sass.CompareT:
		return allLanes
	case mode == sass.CompareNUM:
		return ^unordered
	case mode == sass.CompareNAN:
		return unordered
	case mode > sass.CompareNAN:
		return ordered(mode-sass.CompareNAN, less, equal)&^unordered | unordered
	}
	return ordered(mode, less, equal) &^ unordered
}

func compareF32(o *op, a, b *lanes) uint32 {
	var less, equal, unordered uint32
	for i := range a {
		x, y := a[i], b[i]
		if o.f32.ftz {
			x, y = flushF32(x), flushF32(y)
		}
		f, g := math.Float32frombits(x), math.Float32frombits(y)
		switch {
		case f < g:
			less |= 1 << i
		case f == g:
			equal |= 1 << i
		case f != f || g != g:
			unordered |= 1 << i
		}
	}
	return compareFloats(o.mode, less, equal, unordered)
}

func compileFSETP(p *program, o *op) error {
	o.run, o.mode, o.f32 = fsetp, o.inst.Mod(sass.Compare), f32ModeOf(o.inst)
	return p.resolve(o, layoutSetp, floatValue)
}

func fsetp(w *warp, o *op) error {
	w.setCompared(o, compareF32(o, w.in(&o.a, 0), w.in(&o.b, 1)))
	return nil
}

func compileFSET(p *program, o *op) error {
	o.run, o.mode, o.f32, o.n = fset, o.inst.Mod(sass.Compare), f32ModeOf(o.inst), allLanes
	if o.inst.Mod(sass.BF) != 0 {
		o.n = oneF32
	}
	return p.resolve(o, layoutABP, floatValue)
}

// fset is n where the comparison holds, else 0.
func fset(w *warp, o *op) error {
	r := combine(o.inst.Mod(sass.BoolOp), compareF32(o, w.in(&o.a, 0), w.in(&o.b, 1)), w.get(o.pp))
	d := w.out(o, 0)
	for i := range d {
		d[i] = o.n & -(r >> i & 1)
	}
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
