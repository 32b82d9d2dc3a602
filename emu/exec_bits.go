package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// bitCompilers are the integer instructions that shift, permute and count bits.
var bitCompilers = map[sass.Op]compiler{
	sass.SHF:  compileSHF,
	sass.PRMT: compilePRMT,
	sass.BMSK: compileBMSK,
	sass.SGXT: compileSGXT,
	sass.FLO:  compileFLO,
	sass.POPC: simple(layoutB, intValue, popc),
	sass.BREV: simple(layoutB, intValue, brev),
}

// compileSHF: the operands are the low word, the distance and the high word. What shl and shr compile to depends on one
// of the words only.
func compileSHF(p *program, o *op) error {
	in := o.inst
	t := in.Mod(sass.ShfType)
	s := shift{right: in.Mod(sass.Dir) == sass.DirR, signed: t == sass.TypeS32 || t == sass.TypeS64,
		wrap: in.Mod(sass.Wrap) != 0, high: in.Mod(sass.HI) != 0, width: 32}
	if t == sass.TypeU64 || t == sass.TypeS64 {
		s.width = 64
	}
	switch {
	case s.wrap || s.right != s.high:
		o.run = func(w *warp, o *op) error { return shf(w, o, s) }
	case !s.right:
		o.run = shl
	case s.signed:
		o.run = sar
	default:
		o.run = shr
	}
	return p.resolve(o, layoutABC, intValue)
}

func shf(w *warp, o *op, s shift) error {
	low, sh, high, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	mask, limit := s.distances()
	switch {
	case !s.right:
		for i := range d {
			d[i] = s.word((uint64(high[i])<<32 | uint64(low[i])) << min(sh[i]&mask, limit))
		}
	case s.signed:
		for i := range d {
			d[i] = s.word(uint64(int64(uint64(high[i])<<32|uint64(low[i])) >> min(sh[i]&mask, limit)))
		}
	default:
		for i := range d {
			d[i] = s.word((uint64(high[i])<<32 | uint64(low[i])) >> min(sh[i]&mask, limit))
		}
	}
	w.done(o, 1)
	return nil
}

// shl is the low word of a left shift. A distance of 32 or more gives zero, as the clamped one does.
func shl(w *warp, o *op) error {
	low, sh, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	lanewise.ShiftLeft(d, low, sh)
	w.done(o, 1)
	return nil
}

// shr is the high word of a right shift.
func shr(w *warp, o *op) error {
	sh, high, d := w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.ShiftRight(d, high, sh)
	w.done(o, 1)
	return nil
}

// sar is the high word of an arithmetic right shift.
func sar(w *warp, o *op) error {
	sh, high, d := w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.ShiftSigned(d, high, sh)
	w.done(o, 1)
	return nil
}

// compilePRMT: the selector is an immediate nearly always, and then known beforehand.
func compilePRMT(p *program, o *op) error {
	mode := o.inst.Mod(sass.PrmtMode)
	if err := p.resolve(o, layoutABC, intValue); err != nil {
		return err
	}
	o.run = func(w *warp, o *op) error { return prmt(w, o, mode) }
	if o.b.value != nil {
		selector := selectorOf(mode, o.b.value[0])
		o.n = selector
		o.lut = new(truthTable)
		o.lut[0], o.lut[1] = byteSelectors(selector)
		if o.run = prmtConstant; selector&0x8888 != 0 {
			o.run = prmtSigned
		}
	}
	return nil
}

// selectorOf returns the selector in index mode for the operand of another mode.
func selectorOf(mode uint16, operand uint32) uint32 {
	if mode == sass.PrmtIDX {
		return operand
	}
	return prmtSelectors[mode][operand&3]
}

func prmt(w *warp, o *op, mode uint16) error {
	a, s, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = permuteBytes(a[i], selectorOf(mode, s[i]), b[i])
	}
	w.done(o, 1)
	return nil
}

// prmtConstant permutes by the selector n, which replicates no sign.
func prmtConstant(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.c, 2), w.out(o, 0)
	lanewise.Permute(d, a, b, o.lut[0], o.lut[1])
	w.done(o, 1)
	return nil
}

func prmtSigned(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = permuteBytes(a[i], o.n, b[i])
	}
	w.done(o, 1)
	return nil
}

func compileBMSK(p *program, o *op) error {
	wrap := o.inst.Mod(sass.Wrap) != 0
	f := func(a, b, _ uint32) uint32 { return bitMask(a, b, wrap) }
	o.run = func(w *warp, o *op) error { return w.eachLane(o, f) }
	return p.resolve(o, layoutAB, intValue)
}

func compileSGXT(p *program, o *op) error {
	wrap, unsigned := o.inst.Mod(sass.Wrap) != 0, o.inst.Mod(sass.U32) != 0
	o.run = func(w *warp, o *op) error { return sgxt(w, o, wrap, unsigned) }
	return p.resolve(o, layoutAB, intValue)
}

func sgxt(w *warp, o *op, wrap, unsigned bool) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = extend(a[i], b[i], wrap, unsigned)
	}
	w.done(o, 1)
	return nil
}

func compileFLO(p *program, o *op) error {
	unsigned, amount := o.inst.Mod(sass.U32) != 0, o.inst.Mod(sass.SH) != 0
	o.run = func(w *warp, o *op) error { return flo(w, o, unsigned, amount) }
	return p.resolve(o, layout{0, 1, none, none, 2, none, none, none}, intValue)
}

// flo sets its predicate where a bit was found.
func flo(w *warp, o *op, unsigned, amount bool) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	var found uint32
	for i := range d {
		r := findLeading(b[i], unsigned, amount)
		d[i] = r
		found |= (r>>31 ^ 1) << i
	}
	w.done(o, 1)
	w.set(o.pd, found)
	return nil
}

func popc(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = uint32(bits.OnesCount32(b[i]))
	}
	w.done(o, 1)
	return nil
}

func brev(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = bits.Reverse32(b[i])
	}
	w.done(o, 1)
	return nil
}
