package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// intCompilers are the integer instructions that add and multiply, and moves.
var intCompilers = map[sass.Op]compiler{
	sass.MOV:   compileMOV,
	sass.IADD3: compileIADD3,
	sass.IMAD:  compileIMAD,
	sass.IABS:  simple(layoutB, intValue, iabs),
	sass.LEA:   compileLEA,
	sass.IMNMX: compileIMNMX,
	sass.VIADD: compileVIADD,
	sass.IDP:   compileIDP,

	sass.VABSDIFF:  compileVABSDIFF,
	sass.VABSDIFF4: compileVABSDIFF4,
}

// compileMOV: the mask selects lanes of each quad, which compute code never does.
func compileMOV(p *program, o *op) error {
	if mask := o.inst.Operands[2]; mask.Kind == sass.KindImm && mask.Imm != 0xf && o.inst.Mod(sass.Size) != sass.Size64 {
		return unsupported(o)
	}
	return compileUMOV(p, o)
}

// compileUMOV: with .64, of a pair.
func compileUMOV(p *program, o *op) error {
	if o.inst.Mod(sass.Size) == sass.Size64 {
		o.run = movLong
		return p.resolve(o, layoutB, rawValue)
	}
	o.run = mov
	return p.resolve(o, layoutB, intValue)
}

func mov(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	*d = *b
	w.done(o, 1)
	return nil
}

// compileIADD3: plain additions, or with carries where one goes in or out. A difference has one negated operand, which
// becomes b.
func compileIADD3(p *program, o *op) error {
	l := layout{0, 1, 2, 3, 4, 5, 6, 7}
	x := o.inst.Mod(sass.X) != 0
	if x || o.inst.Operands[1].Reg != sass.PT || o.inst.Operands[2].Reg != sass.PT {
		o.run = iadd3Carry
		if x {
			o.run = iadd3X
		}
		return p.resolve(o, l, rawValue)
	}
	if err := p.resolve(o, l, intValue); err != nil {
		return err
	}
	o.run = iadd3
	for _, s := range []*source{&o.a, &o.c} {
		if s.modified && !o.b.modified {
			*s, o.b = o.b, *s
		}
	}
	if o.b.modified && !o.a.modified && !o.c.modified {
		o.run = isub3
	}
	return nil
}

func iadd3(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.Add3(d, a, b, c)
	w.done(o, 1)
	return nil
}

// isub3 is a + c - b.
func isub3(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	lanewise.Sub3(d, a, b, c)
	w.done(o, 1)
	return nil
}

// flip is what a carrying addition XORs an operand with: -x counts as ~x and one more.
func (s *source) flip() uint32 {
	if s.neg || s.not {
		return allLanes
	}
	return 0
}

// one is what a negated operand of a carrying addition adds beside its complement.
func (s *source) one() uint64 {
	if s.neg {
		return 1
	}
	return 0
}

func iadd3Carry(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	fa, fb, fc := o.a.flip(), o.b.flip(), o.c.flip()
	ones := o.a.one() + o.b.one() + o.c.one()
	if o.c.value == &zeroLanes && fc == 0 && ones <= 1 {
		carry := lanewise.AddCarry(d, a, b, fa, fb, -uint32(ones))
		w.done(o, 1)
		w.set(o.pd, carry)
		w.set(o.pe, 0)
		return nil
	}
	var once, twice uint32
	for i := range d {
		sum, n := addCarry(a[i]^fa, b[i]^fb, c[i]^fc, ones)
		d[i] = sum
		once |= (n | n>>1) & 1 << i
		twice |= n >> 1 << i
	}
	w.done(o, 1)
	w.set(o.pd, once)
	w.set(o.pe, twice)
	return nil
}

// iadd3X adds two carries in.
func iadd3X(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	fa, fb, fc := o.a.flip(), o.b.flip(), o.c.flip()
	p, q := w.get(o.pp), w.get(o.pq)
	if o.c.value == &zeroLanes && fc == 0 && p&q == 0 {
		carry := lanewise.AddCarry(d, a, b, fa, fb, p|q)
		w.done(o, 1)
		w.set(o.pd, carry)
		w.set(o.pe, 0)
		return nil
	}
	var once, twice uint32
	for i := range d {
		sum, n := addCarry(a[i]^fa, b[i]^fb, c[i]^fc, uint64(p>>i&1+q>>i&1))
		d[i] = sum
		once |= (n | n>>1) & 1 << i
		twice |= n >> 1 << i
	}
	w.done(o, 1)
	w.set(o.pd, once)
	w.set(o.pe, twice)
	return nil
}

func compileIMAD(p *program, o *op) error {
	l := layout{0, 1, none, 2, 3, 4, 5, none}
	switch in := o.inst; {
	case in.Mod(sass.HI) != 0:
		o.mode, o.n, o.run = in.Mod(sass.U32), uint32(in.Mod(sass.X)), imadHigh
		return p.resolve(o, l, rawValue)
	case in.Mod(sass.Wide) != 0:
		return p.compileWide(o, l)
	case in.Mod(sass.X) != 0:
		o.run = imadX
		return p.resolve(o, l, intValue)
	}
	if err := p.resolve(o, l, intValue); err != nil {
		return err
	}
	o.run = imad
	if o.a.value == &zeroLanes || o.b.value == &zeroLanes {
		o.run = imadMove
	}
	return nil
}

func imad(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	lanewise.MulAdd(d, a, b, c)
	w.done(o, 1)
	return nil
}

// imadMove is IMAD.MOV: the product is zero.
func imadMove(w *warp, o *op) error {
	c, d := w.in(&o.c, 2), w.out(o, 0)
	*d = *c
	w.done(o, 1)
	return nil
}

// imadX adds a carry in.
func imadX(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	carry := w.get(o.pp)
	lanewise.MulAdd(d, a, b, c)
	lanewise.AddCarry(d, d, &zeroLanes, 0, 0, carry)
	w.done(o, 1)
	return nil
}

// compileWide chooses among IMAD.WIDE: signed, unsigned, and the complete one with carries or a modified addend.
func (p *program) compileWide(o *op, l layout) error {
	unsigned, x := o.inst.Mod(sass.U32) != 0, o.inst.Mod(sass.X) != 0
	if err := p.resolve(o, l, rawValue); err != nil {
		return err
	}
	modified := o.a.neg || o.b.neg || o.c.neg || o.c.not
	switch {
	case modified || x || o.pd != sass.PT:
		o.run = imadWideCarry
		o.mode, o.n = o.inst.Mod(sass.U32), uint32(o.inst.Mod(sass.X))
	case unsigned:
		o.run = imadWideU32
	default:
		o.run = imadWide
	}
	return nil
}

// rawPair returns the two words of a 64-bit integer operand without its modifiers.
func (w *warp) rawPair(s *source) (low, high *lanes) {
	if s.value != nil {
		return s.value, s.high
	}
	return &w.regs[s.reg], &w.regs[s.reg+1]
}

func imadWide(w *warp, o *op) error {
	a, b, d, e := w.raw(&o.a), w.raw(&o.b), w.out(o, 0), w.out(o, 1)
	low, high := w.rawPair(&o.c)
	lanewise.MulWide(d, e, a, b, low, high)
	w.done(o, 2)
	return nil
}

func imadWideU32(w *warp, o *op) error {
	a, b, d, e := w.raw(&o.a), w.raw(&o.b), w.out(o, 0), w.out(o, 1)
	low, high := w.rawPair(&o.c)
	lanewise.MulWideUint(d, e, a, b, low, high)
	w.done(o, 2)
	return nil
}

// imadWideCarry is IMAD.WIDE with everything: mode is .U32, n is .X. The predicate is the carry of the 64-bit sum.
func imadWideCarry(w *warp, o *op) error {
	carry := w.multiplyAdd(o, w.out(o, 0), w.out(o, 1))
	w.done(o, 2)
	w.set(o.pd, carry)
	return nil
}

// imadHigh is IMAD.HI: the high word of what imadWideCarry computes.
func imadHigh(w *warp, o *op) error {
	carry := w.multiplyAdd(o, &w.tmp[0][0], w.out(o, 0))
	w.done(o, 1)
	w.set(o.pd, carry)
	return nil
}

// multiplyAdd computes a·b + c in 64 bits into low and high words, and returns the carries.
func (w *warp) multiplyAdd(o *op, d, e *lanes) uint32 {
	a, b := w.raw(&o.a), w.raw(&o.b)
	low, high := w.rawPair(&o.c)
	var in, carry uint32
	if o.n != 0 {
		in = w.get(o.pp)
	}
	minus := o.a.neg != o.b.neg
	for i := range d {
		product := uint64(int64(int32(a[i])) * int64(int32(b[i])))
		if o.mode != 0 {
			product = uint64(a[i]) * uint64(b[i])
		}
		if minus {
			product = -product
		}
		addend := uint64(high[i])<<32 | uint64(low[i])
		switch {
		case o.c.neg:
			addend = -addend
		case o.c.not:
			addend = ^addend
		}
		sum, out := bits.Add64(product, addend, uint64(in>>i&1))
		carry |= uint32(out) << i
		d[i], e[i] = uint32(sum), uint32(sum>>32)
	}
	return carry
}

func compileIMNMX(p *program, o *op) error {
	o.run = imnmx
	if o.inst.Mod(sass.U32) != 0 {
		o.run = imnmxU32
	}
	return p.resolve(o, layoutABP, intValue)
}

// imnmx is the smaller operand where the predicate is true, else the larger one.
func imnmx(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	smaller := w.get(o.pp)
	w.extreme(d, a, b, smaller, lanewise.MinInt, lanewise.MaxInt)
	w.done(o, 1)
	return nil
}

func imnmxU32(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	smaller := w.get(o.pp)
	w.extreme(d, a, b, smaller, lanewise.MinUint, lanewise.MaxUint)
	w.done(o, 1)
	return nil
}

// extreme is the smaller operand in the lanes of a mask, else the larger one.
func (w *warp) extreme(d, a, b *lanes, smaller uint32, least, most func(d, a, b *lanes)) {
	switch smaller {
	case 0:
		most(d, a, b)
	case allLanes:
		least(d, a, b)
	default:
		t := &w.tmp[2][0]
		least(t, a, b)
		most(d, a, b)
		lanewise.Choose(d, t, d, smaller)
	}
}

func iabs(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = absolute(b[i])
	}
	w.done(o, 1)
	return nil
}

// never is the carry of instructions that take none.
var never = predicate{reg: sass.PT, not: true}

// compileLEA keeps the shift in n. Operand a may be negated, which applies to the shifted value, so that it is kept raw;
// without .HI or .SX32 there is no high word.
func compileLEA(p *program, o *op) error {
	in := o.inst
	o.n = uint32(in.Operands[5].Imm)
	if err := p.resolve(o, layout{0, 1, none, 2, 3, 4, 6, none}, rawValue); err != nil {
		return err
	}
	plain := o.pd == sass.PT && in.Mod(sass.X) == 0 && o.a.flip()|o.b.flip() == 0
	switch high := in.Mod(sass.HI) != 0; {
	case plain && !high:
		o.run = lea
	case high:
		o.run = leaHigh
		o.mode = in.Mod(sass.SX32)
	default:
		o.run = leaCarry
	}
	if in.Mod(sass.X) == 0 {
		o.pp = never
	}
	return nil
}

// lea is (a << n) + b.
func lea(w *warp, o *op) error {
	a, b, d := w.raw(&o.a), w.raw(&o.b), w.out(o, 0)
	lanewise.ShiftAdd(d, a, b, uint64(o.n&31))
	w.done(o, 1)
	return nil
}

// leaCarry is lea with modified operands and carries: a sign applies to the shifted value.
func leaCarry(w *warp, o *op) error {
	a, b, d := w.raw(&o.a), w.raw(&o.b), w.out(o, 0)
	t := &w.tmp[0][0]
	lanewise.ShiftAdd(t, a, &zeroLanes, uint64(o.n&31))
	carry := o.addShifted(d, t, b, w.get(o.pp))
	w.done(o, 1)
	w.set(o.pd, carry)
	return nil
}

// addShifted adds the shifted operand of LEA and the other one, with carries in, and returns those out.
func (o *op) addShifted(d, a, b *lanes, in uint32) (carry uint32) {
	fa, fb, ones := o.a.flip(), o.b.flip(), o.a.one()+o.b.one()
	if ones == 0 || ones == 1 && in == 0 {
		return lanewise.AddCarry(d, a, b, fa, fb, in|-uint32(ones))
	}
	for i := range d {
		sum, out := addCarry(a[i]^fa, b[i]^fb, 0, ones+uint64(in>>i&1))
		d[i] = sum
		carry |= (out | out>>1) & 1 << i
	}
	return carry
}

// signs are the distances by which a shift leaves signs alone.
var signs = broadcast(31)

// leaHigh is leaCarry with the high word of {c, a} << n. With mode (.SX32) c is the sign of a.
func leaHigh(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	t := &w.tmp[0][0]
	if o.mode != 0 {
		lanewise.ShiftSigned(t, a, signs)
		c = t
	}
	lanewise.Funnel(t, c, a, uint64(o.n&31))
	carry := o.addShifted(d, t, b, w.get(o.pp))
	w.done(o, 1)
	w.set(o.pd, carry)
	return nil
}

func compileIDP(p *program, o *op) error {
	in := o.inst
	t := in.Mod(sass.SrcType)
	signedA, signedB := t == sass.TypeS8 || t == sass.TypeS16, in.Mod(sass.SrcType2) == sass.TypeS8
	f := func(a, b, c uint32) uint32 { return dot4(a, b, c, signedA, signedB) }
	if m := in.Mod(sass.IdpMode); m != sass.Idp4A {
		high := int(m - sass.Idp2ALO)
		f = func(a, b, c uint32) uint32 { return dot2(a, b, c, signedA, signedB, high) }
	}
	o.run = func(w *warp, o *op) error { return w.eachLane(o, f) }
	return p.resolve(o, layoutABC, intValue)
}

// layoutAbsDiff has a predicate that nothing is known of.
var layoutAbsDiff = layout{0, 1, none, 2, 3, 4, none, none}

func compileVABSDIFF(p *program, o *op) error {
	unsigned := o.inst.Mod(sass.U32) != 0
	f := func(a, b, c uint32) uint32 { return absDiff(a, b, unsigned) + c }
	o.run = func(w *warp, o *op) error { return w.eachLane(o, f) }
	return p.resolveAbsDiff(o)
}

func compileVABSDIFF4(p *program, o *op) error {
	unsigned, sum := o.inst.Mod(sass.U32) != 0, o.inst.Mod(sass.Acc) != 0
	f := func(a, b, c uint32) uint32 { return absDiff4(a, b, c, unsigned, sum) }
	o.run = func(w *warp, o *op) error { return w.eachLane(o, f) }
	return p.resolveAbsDiff(o)
}

func (p *program) resolveAbsDiff(o *op) error {
	if err := p.resolve(o, layoutAbsDiff, intValue); err != nil {
		return err
	}
	if o.pd != sass.PT {
		return unsupported(o)
	}
	return nil
}

// eachLane computes a result lane by lane, for instructions that are rare or whose lanes take long anyway.
func (w *warp) eachLane(o *op, f func(a, b, c uint32) uint32) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = f(a[i], b[i], c[i])
	}
	w.done(o, 1)
	return nil
}
