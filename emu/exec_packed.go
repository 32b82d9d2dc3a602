package emu

import (
	"math"

	"gpa/cubin/sass"
)

// packedCompilers are sums and products of two numbers of single precision (sm_100), each rounded as by FADD, FMUL and FFMA.
var packedCompilers = map[sass.Op]compiler{
	sass.FADD2: compilePacked(layoutAB, addNumbers, f32Mode.addAll),
	sass.FMUL2: compilePacked(layoutAB, mulNumbers, f32Mode.mulAll),
	sass.FFMA2: compilePacked(layoutABC, fmaNumbers, f32Mode.fmaAll),
}

// A packedFunc computes one of the two results of all lanes.
type packedFunc func(m f32Mode, a, b, c, d *lanes)

// compilePacked chooses between Go's own arithmetic and the one that looks at the mode. .FMZ does not occur in compute code.
func compilePacked(l layout, plain, general packedFunc) compiler {
	return func(p *program, o *op) error {
		if o.inst.Mod(sass.FTZ) == sass.FTZFMZ {
			return unsupported(o)
		}
		o.f32 = f32ModeOf(o.inst)
		compute := general
		if o.f32 == (f32Mode{}) {
			compute = plain
		}
		o.run = func(w *warp, o *op) error { return packed(w, o, compute) }
		return p.resolve(o, l, floatValue)
	}
}

// packed computes the low and the high results before it stores either: a source may give its registers to both.
func packed(w *warp, o *op, compute packedFunc) error {
	var results [2]lanes
	for at := range results {
		compute(o.f32, w.number(&o.a, 0, at), w.number(&o.b, 1, at), w.number(&o.c, 2, at), &results[at])
	}
	for at := range results {
		*w.out(o, at) = results[at]
	}
	w.done(o, 2)
	return nil
}

// number returns the low (0) or the high (1) number of a source with its operators, those of the k-th source in its scratch register.
func (w *warp) number(s *source, k, at int) *lanes {
	negate := at == 1 && s.swz&sass.PairNegHigh != 0
	v := s.value
	modified := negate
	if v == nil {
		reg := int(s.reg)
		switch s.swz &^ sass.PairNegHigh {
		case sass.PairHighLow:
			reg += at
		case sass.PairLowHigh:
			reg += 1 - at
		}
		v, modified = &w.regs[reg], negate || s.modified
	}
	if !modified {
		return v
	}
	and, xor := s.and, s.xor
	if s.value != nil { // which has its operators applied
		and, xor = allLanes, 0
	}
	if negate {
		xor ^= signF32
	}
	t := &w.tmp[k][0]
	for i := range t {
		t[i] = v[i]&and ^ xor
	}
	return t
}

func addNumbers(_ f32Mode, a, b, _, d *lanes) {
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) + math.Float32frombits(b[i]))
	}
}

func mulNumbers(_ f32Mode, a, b, _, d *lanes) {
	for i := range d {
		d[i] = bitsF32(math.Float32frombits(a[i]) * math.Float32frombits(b[i]))
	}
}

func fmaNumbers(m f32Mode, a, b, c, d *lanes) {
	for i := range d {
		if s := productSum(a[i], b[i], c[i]); singleRounding(s) {
			d[i] = math.Float32bits(float32(s))
		} else {
			d[i] = m.fma(a[i], b[i], c[i])
		}
	}
}

func (m f32Mode) addAll(a, b, _, d *lanes) {
	for i := range d {
		d[i] = m.add(a[i], b[i])
	}
}

func (m f32Mode) mulAll(a, b, _, d *lanes) {
	for i := range d {
		d[i] = m.mul(a[i], b[i])
	}
}

func (m f32Mode) fmaAll(a, b, c, d *lanes) {
	for i := range d {
		d[i] = m.fma(a[i], b[i], c[i])
	}
}
