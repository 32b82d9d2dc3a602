package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// Instructions on integers of 64 bits, which lie in pairs of registers (sm_120).

// longCompilers are those that have no form of 32 bits on other architectures.
var longCompilers = map[sass.Op]compiler{sass.IADD: compileIADD}

func joined(low, high uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func movLong(w *warp, o *op) error {
	low, high := w.rawPair(&o.b)
	d, e := w.out(o, 0), w.out(o, 1)
	*d, *e = *low, *high
	w.done(o, 2)
	return nil
}

// compileSEL: with .64, of pairs.
func compileSEL(p *program, o *op) error {
	if o.inst.Mod(sass.Size) == sass.Size64 {
		o.run = selLong
		return p.resolve(o, layoutABP, rawValue)
	}
	o.run = sel
	return p.resolve(o, layoutABP, intValue)
}

func selLong(w *warp, o *op) error {
	first, firstHigh := w.rawPair(&o.a)
	second, secondHigh := w.rawPair(&o.b)
	d, e := w.out(o, 0), w.out(o, 1)
	p := w.get(o.pp)
	for i := range d {
		low, high := second[i], secondHigh[i]
		if p>>i&1 != 0 {
			low, high = first[i], firstHigh[i]
		}
		d[i], e[i] = low, high
	}
	w.done(o, 2)
	return nil
}

// compileIADD: the sum of two, with the carry out in pd and, with .X, a carry in. A negated operand counts as its complement and one more,
// as in IADD3.
func compileIADD(p *program, o *op) error {
	in := o.inst
	x, long := in.Mod(sass.X) != 0, in.Mod(sass.Size) == sass.Size64
	o.run = func(w *warp, o *op) error { return iadd(w, o, x, long) }
	return p.resolve(o, layout{0, 1, none, 2, 3, none, 4, none}, rawValue)
}

func iadd(w *warp, o *op, x, long bool) error {
	a, aHigh := w.rawPair(&o.a)
	b, bHigh := w.rawPair(&o.b)
	d, e := w.out(o, 0), &w.tmp[0][0]
	n := 1
	if long {
		e, n = w.out(o, 1), 2
	}
	fa, fb, ones := o.a.flip(), o.b.flip(), o.a.one()+o.b.one()
	in := uint32(0)
	if x {
		in = w.get(o.pp)
	}
	var carries uint32
	for i := range d {
		sum, first := bits.Add32(a[i]^fa, b[i]^fb, in>>i&1)
		sum, second := bits.Add32(sum, uint32(ones), 0)
		carry := first + second
		d[i] = sum
		if long {
			high, more := bits.Add32(aHigh[i]^fa, bHigh[i]^fb, 0)
			high, again := bits.Add32(high, carry, 0)
			e[i], carry = high, more+again
		}
		carries |= min(carry, 1) << i
	}
	w.done(o, n)
	w.set(o.pd, carries)
	return nil
}

// compileLongISETP compares pairs.
func (p *program) compileLongISETP(o *op, unsigned bool) error {
	if o.inst.Mod(sass.EX) != 0 { // it would be of 128 bits
		return unsupported(o)
	}
	o.run = func(w *warp, o *op) error {
		a, aHigh := w.rawPair(&o.a)
		b, bHigh := w.rawPair(&o.b)
		var less, equal uint32
		for i := range a {
			x, y := joined(a[i], aHigh[i]), joined(b[i], bHigh[i])
			if x == y {
				equal |= 1 << i
			} else if unsigned && x < y || !unsigned && int64(x) < int64(y) {
				less |= 1 << i
			}
		}
		w.setCompared(o, comparedAs(uint16(o.n), less, equal))
		return nil
	}
	return p.resolve(o, layoutSetp, rawValue)
}

// comparedAs returns the lanes in which a comparison holds, given those whose first operand is less and those whose operands are equal.
func comparedAs(compare uint16, less, equal uint32) uint32 {
	switch compare {
	case sass.CompareF:
		return 0
	case sass.CompareLT:
		return less
	case sass.CompareEQ:
		return equal
	case sass.CompareLE:
		return less | equal
	case sass.CompareGT:
		return ^(less | equal)
	case sass.CompareNE:
		return ^equal
	case sass.CompareGE:
		return ^less
	}
	return allLanes
}
