package emu

import (
	"gpa/cubin/sass"
)

// logicCompilers are the bitwise instructions, selections, and those that work on predicates.
var logicCompilers = map[sass.Op]compiler{
	sass.LOP3:  compileLOP3,
	sass.SEL:   compileSEL,
	sass.ISETP: compileISETP,
	sass.PLOP3: compilePLOP3,
	sass.P2R:   compileP2R,
	sass.R2P:   compileR2P,
}

// compileLOP3 keeps the truth table in n; the tables that most code uses have executors of their own.
func compileLOP3(p *program, o *op) error {
	o.n = uint32(o.inst.Operands[5].Imm)
	o.lut = truthTableOf(o.n)
	if err := p.resolve(o, layout{1, 0, none, 2, 3, 4, 6, none}, intValue); err != nil {
		return err
	}
	switch {
	case o.pd != sass.PT && o.inst.Mod(sass.PAnd) != 0:
		o.run = lop3Pand
	case o.pd != sass.PT:
		o.run = lop3Set
	case o.n == 0xc0:
		o.run = lopAnd
	case o.n == 0xfc:
		o.run = lopOr
	case o.n == 0x3c:
		o.run = lopXor
	default:
		o.run = lop3
	}
	return nil
}

func lopAnd(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.And(d, a, b)
	w.done(o, 1)
	return nil
}

func lopOr(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.Or(d, a, b)
	w.done(o, 1)
	return nil
}

func lopXor(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.Xor(d, a, b)
	w.done(o, 1)
	return nil
}

func lop3(w *warp, o *op) error {
	lanewise.Lookup(w.out(o, 0), w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), o.lut)
	w.done(o, 1)
	return nil
}

// lop3Set sets a predicate too: where the result is not zero, or the source predicate is true.
func lop3Set(w *warp, o *op) error {
	ones := w.lop3Ones(o)
	w.set(o.pd, ones|w.get(o.pp))
	return nil
}

// lop3Pand is lop3Set where both have to hold.
func lop3Pand(w *warp, o *op) error {
	ones := w.lop3Ones(o)
	w.set(o.pd, ones&w.get(o.pp))
	return nil
}

// lop3Ones stores the result and returns the lanes where it is not zero.
func (w *warp) lop3Ones(o *op) uint32 {
	d := w.out(o, 0)
	lanewise.Lookup(d, w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), o.lut)
	ones := ^lanewise.Equal(d, &zeroLanes)
	w.done(o, 1)
	return ones
}

func sel(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	p := w.get(o.pp)
	lanewise.Choose(d, a, b, p)
	w.done(o, 1)
	return nil
}

// compileISETP keeps how the comparison joins the source predicate in mode and the comparison in n.
func compileISETP(p *program, o *op) error {
	in := o.inst
	o.mode, o.n = in.Mod(sass.BoolOp), uint32(in.Mod(sass.Compare))
	unsigned := in.Mod(sass.U32) != 0
	if in.Mod(sass.Size) == sass.Size64 {
		return p.compileLongISETP(o, unsigned)
	}
	switch {
	case in.Mod(sass.EX) != 0 && unsigned:
		o.run = isetpU32EX
	case in.Mod(sass.EX) != 0:
		o.run = isetpEX
	case unsigned:
		o.run = isetpU32
	default:
		o.run = isetp
	}
	return p.resolve(o, layoutSetp, intValue)
}

func isetp(w *warp, o *op) error {
	w.setCompared(o, compareInts(o.n, w.in(&o.a, 0), w.in(&o.b, 1), lanewise.LessInt))
	return nil
}

func isetpU32(w *warp, o *op) error {
	w.setCompared(o, compareInts(o.n, w.in(&o.a, 0), w.in(&o.b, 1), lanewise.LessUint))
	return nil
}

func isetpEX(w *warp, o *op) error {
	w.setCompared(o, w.compareHigh(o, lanewise.LessInt))
	return nil
}

func isetpU32EX(w *warp, o *op) error {
	w.setCompared(o, w.compareHigh(o, lanewise.LessUint))
	return nil
}

// compareInts returns the lanes in which a comparison holds, whose three bits say whether it does for less, equal and
// greater operands. The loop over the lanes is in less and in lanewise.Equal.
func compareInts(compare uint32, a, b *lanes, less func(a, b *lanes) uint32) uint32 {
	switch uint16(compare) {
	case sass.CompareF:
		return 0
	case sass.CompareLT:
		return less(a, b)
	case sass.CompareEQ:
		return lanewise.Equal(a, b)
	case sass.CompareLE:
		return ^less(b, a)
	case sass.CompareGT:
		return less(b, a)
	case sass.CompareNE:
		return ^lanewise.Equal(a, b)
	case sass.CompareGE:
		return ^less(a, b)
	}
	return allLanes
}

// compareHigh compares the high words of 64-bit integers: where they are equal, the result of the low words decides,
// which is the last operand.
func (w *warp) compareHigh(o *op, less func(a, b *lanes) uint32) uint32 {
	a, b := w.in(&o.a, 0), w.in(&o.b, 1)
	equal, low := lanewise.Equal(a, b), w.get(o.pq)
	return compareInts(o.n, a, b, less)&^equal | low&equal
}

// combine joins a comparison's result with a predicate.
func combine(boolOp uint16, result, with uint32) uint32 {
	switch boolOp {
	case sass.BoolOR:
		return result | with
	case sass.BoolXOR:
		return result ^ with
	}
	return result & with
}

// setCompared stores a comparison's result and its complement, both joined with the source predicate as mode says.
func (w *warp) setCompared(o *op, r uint32) {
	with := w.get(o.pp)
	w.set(o.pd, combine(o.mode, r, with))
	w.set(o.pe, combine(o.mode, ^r, with))
}

// compilePLOP3: three predicates, or the signs of registers, through one table for each destination.
func compilePLOP3(p *program, o *op) error {
	in := o.inst
	l := layout{none, 0, 1, 2, 3, 4, none, none}
	var inputs [3]predicate
	for k, at := range []*int{&l.a, &l.b, &l.c} {
		inputs[k] = predicateOf(&in.Operands[2+k])
		if kind := in.Operands[2+k].Kind; kind == sass.KindPred || kind == sass.KindUPred {
			*at = none
		}
	}
	first, second := uint8(in.Operands[5].Imm), uint8(in.Operands[6].Imm)
	o.run = func(w *warp, o *op) error {
		a, b, c := w.truth(&o.a, l.a, inputs[0]), w.truth(&o.b, l.b, inputs[1]), w.truth(&o.c, l.c, inputs[2])
		w.set(o.pd, lutBits(first, a, b, c))
		w.set(o.pe, lutBits(second, a, b, c))
		return nil
	}
	return p.resolve(o, l, intValue)
}

// truth returns the lanes in which a source of PLOP3 is true: a predicate, or the sign of the register at an operand.
func (w *warp) truth(s *source, at int, p predicate) (r uint32) {
	if at == none {
		return w.get(p)
	}
	for i, v := range w.in(s, 0) {
		r |= v >> 31 << i
	}
	return r
}

// compileP2R keeps in n where the byte begins that is replaced.
func compileP2R(p *program, o *op) error {
	o.run, o.n = p2r, 8*uint32(o.inst.Mod(sass.ByteSel))
	return p.resolve(o, layout{0, none, none, 2, 3, none, none, none}, intValue)
}

// p2r puts the predicates that the mask b names into a byte of a.
func p2r(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		var set uint32
		for p := range sass.PT {
			set |= w.preds[p] >> i & 1 << p
		}
		mask := b[i] & 0xff
		d[i] = a[i]&^(mask<<o.n) | (set&mask)<<o.n
	}
	w.done(o, 1)
	return nil
}

// compileR2P keeps in n where the byte begins that is read.
func compileR2P(p *program, o *op) error {
	o.run, o.n = r2p, 8*uint32(o.inst.Operands[1].Swz)
	return p.resolve(o, layout{none, none, none, 1, 2, none, none, none}, intValue)
}

// r2p sets the predicates that the mask b names from a byte of a.
func r2p(w *warp, o *op) error {
	a, b := w.in(&o.a, 0), w.in(&o.b, 1)
	for p := range uint8(sass.PT) {
		var named, values uint32
		for i := range a {
			named |= b[i] >> p & 1 << i
			values |= a[i] >> (o.n + uint32(p)) & 1 << i
		}
		w.set(p, w.preds[p]&^named|values&named)
	}
	return nil
}
