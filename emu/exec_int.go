package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// intCompilers are the integer and logic instructions and those on predicates.
var intCompilers = map[sass.Op]compiler{
	sass.MOV:   simple(layoutB, intValue, mov),
	sass.IADD3: compileIADD3,
	sass.IMAD:  compileIMAD,
	sass.IABS:  simple(layoutB, intValue, iabs),
	sass.ISETP: compileISETP,
	sass.LOP3:  compileLOP3,
	sass.PLOP3: compilePLOP3,
	sass.SEL:   simple(layoutABP, intValue, sel),
	sass.SHF:   compileSHF,
	sass.LEA:   compileLEA,
	sass.PRMT:  compilePRMT,
	sass.BMSK:  compileBMSK,
	sass.SGXT:  compileSGXT,
	sass.FLO:   compileFLO,
	sass.POPC:  simple(layoutB, intValue, popc),
	sass.BREV:  simple(layoutB, intValue, brev),
	sass.IDP:   compileIDP,

	sass.VABSDIFF:  compileVABSDIFF,
	sass.VABSDIFF4: compileVABSDIFF4,

	sass.P2R: compileP2R,
	sass.R2P: compileR2P,
}

func mov(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	*d = *b
	w.done(o, 1)
	return nil
}

// compileIADD3: plain addition, or with carries where one goes in or out.
func compileIADD3(p *program, o *op) error {
	l := layout{0, 1, 2, 3, 4, 5, 6, 7}
	kind, run := intValue, execFunc(iadd3)
	if o.inst.Mod(sass.X) != 0 || o.inst.Operands[1].Reg != sass.PT || o.inst.Operands[2].Reg != sass.PT {
		kind, run = rawValue, iadd3Carry
	}
	if o.inst.Mod(sass.X) != 0 {
		o.mode = 1
	}
	o.run = run
	return p.resolve(o, l, kind)
}

func iadd3(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = a[i] + b[i] + c[i]
	}
	w.done(o, 1)
	return nil
}

// iadd3Carry adds in wide arithmetic: -x contributes ~x + 1. Mode 1 is .X: ~x and the carries in.
func iadd3Carry(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	var in [2]uint32
	if o.mode == 1 {
		in = [2]uint32{w.get(o.pp), w.get(o.pq)}
	}
	var once, twice uint32
	for i := range d {
		sum := o.a.wide(a[i]) + o.b.wide(b[i]) + o.c.wide(c[i]) + uint64(in[0]>>i&1) + uint64(in[1]>>i&1)
		d[i] = uint32(sum)
		if sum >= 1<<32 {
			once |= 1 << i
		}
		if sum >= 2<<32 {
			twice |= 1 << i
		}
	}
	w.done(o, 1)
	w.set(o.pd, once)
	w.set(o.pe, twice)
	return nil
}

// wide is an operand of a carrying addition: up to 33 bits.
func (s *source) wide(v uint32) uint64 {
	switch {
	case s.neg:
		return uint64(^v) + 1
	case s.not:
		return uint64(^v)
	}
	return uint64(v)
}

func compileIMAD(p *program, o *op) error {
	l := layout{0, 1, none, 2, 3, 4, 5, none}
	in := o.inst
	wide, high := in.Mod(sass.Wide) != 0, in.Mod(sass.HI) != 0
	if in.Mod(sass.U32) != 0 {
		o.mode = 1
	}
	switch {
	case wide || high:
		o.run = imadWide
		if high {
			o.n = 1
		}
		if o.inst.Mod(sass.X) == 0 {
			l.pp = none
			o.mode |= 2 // no carry in
		}
		return p.resolve(o, l, rawValue)
	case in.Mod(sass.X) != 0:
		o.run = imadX
		return p.resolve(o, l, intValue)
	}
	o.run = imad
	if err := p.resolve(o, l, intValue); err != nil {
		return err
	}
	if o.a.value == &zeroLanes || o.b.value == &zeroLanes {
		o.run = imadMove
	}
	return nil
}

func imad(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
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

// imadX adds a carry; ~ of the addend is an exact complement there.
func imadX(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	carry := w.get(o.pp)
	for i := range d {
		d[i] = a[i]*b[i] + c[i] + carry>>i&1
	}
	w.done(o, 1)
	return nil
}

// imadWide is IMAD.WIDE and, with n = 1, IMAD.HI: the product and the addend have 64 bits. Mode bit 0 is .U32, bit 1
// that there is no carry in. The predicate is the carry of the sum.
func imadWide(w *warp, o *op) error {
	a, b := w.raw(&o.a), w.raw(&o.b)
	low, high := w.raw(&o.c), o.c.high
	if o.c.value == nil {
		high = &w.regs[o.c.reg+1]
	}
	d, e := w.out(o, 0), &w.res[1]
	if o.n == 0 {
		e = w.out(o, 1)
	}
	var in, carry uint32
	if o.mode&2 == 0 {
		in = w.get(o.pp)
	}
	minus := o.a.neg != o.b.neg
	for i := range d {
		product := uint64(int64(int32(a[i])) * int64(int32(b[i])))
		if o.mode&1 != 0 {
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
		if o.n == 1 {
			d[i] = uint32(sum >> 32)
		} else {
			d[i], e[i] = uint32(sum), uint32(sum>>32)
		}
	}
	w.done(o, 2-int(o.n))
	w.set(o.pd, carry)
	return nil
}

func iabs(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		if d[i] = b[i]; int32(b[i]) < 0 {
			d[i] = -b[i]
		}
	}
	w.done(o, 1)
	return nil
}

// compileISETP keeps the comparison in mode and in n whether it is unsigned.
func compileISETP(p *program, o *op) error {
	o.mode, o.n = o.inst.Mod(sass.Compare), uint32(o.inst.Mod(sass.U32))
	o.run = isetp
	if o.inst.Mod(sass.EX) != 0 {
		o.run = isetpEX
	}
	return p.resolve(o, layoutSetp, intValue)
}

// compareInts returns the lanes in which the comparison holds.
func compareInts(mode uint16, unsigned bool, a, b *lanes) uint32 {
	if mode >= sass.CompareNUM { // T
		return allLanes
	}
	flip := uint32(0x80000000) // maps the order of signed numbers to that of unsigned ones
	if unsigned {
		flip = 0
	}
	var less, equal uint32
	for i := range a {
		x, y := a[i]^flip, b[i]^flip
		if x < y {
			less |= 1 << i
		}
		if x == y {
			equal |= 1 << i
		}
	}
	return ordered(mode, less, equal)
}

// ordered combines the lanes that are less and equal as the comparison says.
func ordered(mode uint16, less, equal uint32) uint32 {
	var r uint32
	if mode&1 != 0 {
		r |= less
	}
	if mode&2 != 0 {
		r |= equal
	}
	if mode&4 != 0 {
		r |= ^(less | equal)
	}
	return r
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

func isetp(w *warp, o *op) error {
	r := compareInts(o.mode, o.n != 0, w.in(&o.a, 0), w.in(&o.b, 1))
	w.setCompared(o, r)
	return nil
}

// setCompared stores a comparison's result and its complement, both joined with the source predicate.
func (w *warp) setCompared(o *op, r uint32) {
	with, boolOp := w.get(o.pp), o.inst.Mod(sass.BoolOp)
	w.set(o.pd, combine(boolOp, r, with))
	w.set(o.pe, combine(boolOp, ^r, with))
}

// isetpEX compares high words: where they are equal the result of the low words, the last operand, decides.
func isetpEX(w *warp, o *op) error {
	a, b := w.in(&o.a, 0), w.in(&o.b, 1)
	r := compareInts(o.mode, o.n != 0, a, b)
	low := w.get(o.pq)
	for i := range a {
		if a[i] == b[i] {
			r = r&^(1<<i) | low&(1<<i)
		}
	}
	w.setCompared(o, r)
	return nil
}

// compileLOP3 keeps the table of truth values in n.
func compileLOP3(p *program, o *op) error {
	o.n = uint32(o.inst.Operands[5].Imm)
	o.run = lop3
	if err := p.resolve(o, layout{1, 0, none, 2, 3, 4, 6, none}, intValue); err != nil {
		return err
	}
	if run, ok := lop3Common[o.n]; ok && o.pd == sass.PT {
		o.run = run
	}
	return nil
}

// lop3Common are the tables that most code uses.
var lop3Common = map[uint32]execFunc{0xc0: lopAnd, 0xfc: lopOr, 0x3c: lopXor}

func lopAnd(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = a[i] & b[i]
	}
	w.done(o, 1)
	return nil
}

func lopOr(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = a[i] | b[i]
	}
	w.done(o, 1)
	return nil
}

func lopXor(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
	w.done(o, 1)
	return nil
}

// lop3 works for any table: bit (a<<2 | b<<1 | c) of it is the result for those input bits. Each bit of the table is
// spread to a word, so that the result is chosen by a, then by b and c.
func lop3(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	var t [8]uint32
	for k := range t {
		t[k] = -(o.n >> k & 1)
	}
	var nonzero uint32
	for i := range d {
		x, y, z := a[i], b[i], c[i]
		low := ^y&(^z&t[0]|z&t[1]) | y&(^z&t[2]|z&t[3])
		high := ^y&(^z&t[4]|z&t[5]) | y&(^z&t[6]|z&t[7])
		v := ^x&low | x&high
		d[i] = v
		if v != 0 {
			nonzero |= 1 << i
		}
	}
	w.done(o, 1)
	if o.inst.Mod(sass.PAnd) != 0 {
		w.set(o.pd, nonzero&w.get(o.pp))
	} else {
		w.set(o.pd, nonzero|w.get(o.pp))
	}
	return nil
}

// compilePLOP3: three predicates, or the signs of registers, through one table for each destination.
func compilePLOP3(p *program, o *op) error {
	o.run = plop3
	return p.resolve(o, layout{none, 0, 1, 2, 3, 4, none, none}.registersOnly(o.inst), rawValue)
}

// registersOnly leaves out the sources that are predicates.
func (l layout) registersOnly(in *sass.Inst) layout {
	for _, at := range []*int{&l.a, &l.b, &l.c} {
		if *at >= 0 && in.Operands[*at].Kind != sass.KindReg {
			*at = none
		}
	}
	return l
}

func plop3(w *warp, o *op) error {
	var in [3]uint32
	for k, s := range []*source{&o.a, &o.b, &o.c} {
		operand := &o.inst.Operands[2+k]
		if operand.Kind == sass.KindPred {
			in[k] = w.get(predicateOf(operand))
			continue
		}
		for i, v := range w.raw(s) {
			in[k] |= v >> 31 << i
		}
		if operand.Not || operand.Neg {
			in[k] = ^in[k]
		}
	}
	pd, pe := lookup(o.inst.Operands[5].Imm, in), lookup(o.inst.Operands[6].Imm, in)
	w.set(o.pd, pd)
	w.set(o.pe, pe)
	return nil
}

// lookup puts three bits through a table of truth values, in every lane.
func lookup(table uint64, in [3]uint32) (r uint32) {
	for i := range 32 {
		k := in[0]>>i&1<<2 | in[1]>>i&1<<1 | in[2]>>i&1
		r |= uint32(table>>k&1) << i
	}
	return r
}

func sel(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	p := w.get(o.pp)
	for i := range d {
		v := b[i]
		if p>>i&1 != 0 {
			v = a[i]
		}
		d[i] = v
	}
	w.done(o, 1)
	return nil
}

// A funnel says how SHF shifts.
const (
	funnelRight = 1 << iota
	funnelSigned
	funnelWrap
	funnelHigh
	funnel64
)

// compileSHF keeps the kind of shift in n. The operands are the low word, the shift and the high word.
func compileSHF(p *program, o *op) error {
	in := o.inst
	flag := func(set bool, bit uint32) {
		if set {
			o.n |= bit
		}
	}
	t := in.Mod(sass.ShfType)
	flag(in.Mod(sass.Dir) == sass.DirR, funnelRight)
	flag(t == sass.TypeS32 || t == sass.TypeS64, funnelSigned)
	flag(t == sass.TypeU64 || t == sass.TypeS64, funnel64)
	flag(in.Mod(sass.Wrap) != 0, funnelWrap)
	flag(in.Mod(sass.HI) != 0, funnelHigh)
	o.run = shf
	return p.resolve(o, layoutABC, intValue)
}

func shf(w *warp, o *op) error {
	low, shift, high, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	width := uint32(32)
	if o.n&funnel64 != 0 {
		width = 64
	}
	for i := range d {
		n := shift[i]
		if o.n&funnelWrap != 0 {
			n &= width - 1
		} else {
			n = min(n, width)
		}
		x := uint64(high[i])<<32 | uint64(low[i])
		switch o.n & (funnelRight | funnelSigned) {
		case funnelRight:
			x >>= n
		case funnelRight | funnelSigned:
			x = uint64(int64(x) >> n)
		default:
			x <<= n
		}
		if o.n&funnelHigh != 0 {
			x >>= 32
		}
		d[i] = uint32(x)
	}
	w.done(o, 1)
	return nil
}

// compileLEA keeps the shift in n.
func compileLEA(p *program, o *op) error {
	in := o.inst
	o.n = uint32(in.Operands[5].Imm)
	o.run = lea
	if in.Mod(sass.HI) != 0 || in.Mod(sass.SX32) != 0 {
		o.run = leaHigh
	}
	return p.resolve(o, layout{0, 1, none, 2, 3, 4, 6, none}, rawValue)
}

// lea is (a << n) + b; the predicate is the carry. A sign applies to the shifted value.
func lea(w *warp, o *op) error {
	a, b, d := w.raw(&o.a), w.raw(&o.b), w.out(o, 0)
	var in, carry uint32
	if o.inst.Mod(sass.X) != 0 {
		in = w.get(o.pp)
	}
	for i := range d {
		sum := o.a.wide(a[i]<<o.n) + o.b.wide(b[i]) + uint64(in>>i&1)
		d[i] = uint32(sum)
		if sum >= 1<<32 {
			carry |= 1 << i
		}
	}
	w.done(o, 1)
	w.set(o.pd, carry)
	return nil
}

// leaHigh is the high word of {c, a} << n, plus b. With .SX32 the high word is the sign of a.
func leaHigh(w *warp, o *op) error {
	a, b, c, d := w.raw(&o.a), w.raw(&o.b), w.raw(&o.c), w.out(o, 0)
	var in, carry uint32
	x := o.inst.Mod(sass.X) != 0
	if x {
		in = w.get(o.pp)
	}
	extend := o.inst.Mod(sass.SX32) != 0
	for i := range d {
		high := c[i]
		if extend {
			high = uint32(int32(a[i]) >> 31)
		}
		v := uint64(high)<<32 | uint64(a[i])
		if o.a.neg {
			v = -(v << o.n)
		} else {
			v <<= o.n
			if o.a.not {
				v = ^v
			}
		}
		sum := v>>32 + o.b.wide(b[i]) + uint64(in>>i&1)
		d[i] = uint32(sum)
		if sum >= 1<<32 {
			carry |= 1 << i
		}
	}
	w.done(o, 1)
	w.set(o.pd, carry)
	return nil
}

func compilePRMT(p *program, o *op) error {
	o.mode = o.inst.Mod(sass.PrmtMode)
	o.run = prmt
	return p.resolve(o, layoutABC, intValue)
}

func prmt(w *warp, o *op) error {
	a, s, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		d[i] = permute(o.mode, a[i], b[i], s[i])
	}
	w.done(o, 1)
	return nil
}

// permuteModes are the selectors of the modes other than the index mode, by the two low bits of the operand (PTX ISA,
// prmt): a nibble a byte, lowest first.
var permuteModes = map[uint16][4]uint32{
	sass.PrmtF4E:  {0x3210, 0x4321, 0x5432, 0x6543},
	sass.PrmtB4E:  {0x5670, 0x6701, 0x7012, 0x0123},
	sass.PrmtRC8:  {0x0000, 0x1111, 0x2222, 0x3333},
	sass.PrmtECL:  {0x3210, 0x3211, 0x3222, 0x3333},
	sass.PrmtECR:  {0x0000, 0x1110, 0x2210, 0x3210},
	sass.PrmtRC16: {0x1010, 0x3232, 0x1010, 0x3232},
}

// permute picks four of the eight bytes {b, a}; bit 3 of a selector replicates the byte's sign.
func permute(mode uint16, a, b, selector uint32) (r uint32) {
	if table, ok := permuteModes[mode]; ok {
		selector = table[selector&3]
	}
	x := uint64(b)<<32 | uint64(a)
	for k := range 4 {
		s := selector >> (4 * k) & 15
		v := uint32(x>>(8*(s&7))) & 0xff
		if s&8 != 0 {
			v = uint32(int32(v<<24)>>31) & 0xff
		}
		r |= v << (8 * k)
	}
	return r
}

func compileBMSK(p *program, o *op) error {
	o.run, o.mode = bmsk, o.inst.Mod(sass.Wrap)
	return p.resolve(o, layoutAB, intValue)
}

// bmsk is b ones from bit a on.
func bmsk(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		at, n := a[i], b[i]
		if o.mode != 0 {
			at, n = at&31, n&31
		}
		d[i] = uint32((uint64(1)<<min(n, 32) - 1) << min(at, 32))
	}
	w.done(o, 1)
	return nil
}

func compileSGXT(p *program, o *op) error {
	o.run, o.mode, o.n = sgxt, o.inst.Mod(sass.Wrap), uint32(o.inst.Mod(sass.U32))
	return p.resolve(o, layoutAB, intValue)
}

// sgxt extends the low b bits of a.
func sgxt(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		n := b[i]
		if o.mode != 0 {
			n &= 31
		}
		shift := 32 - min(n, 32)
		if o.n != 0 {
			d[i] = uint32(uint64(a[i]) << shift & 0xffffffff >> shift)
		} else {
			d[i] = uint32(int32(uint32(uint64(a[i])<<shift)) >> min(shift, 31))
			if n == 0 {
				d[i] = 0
			}
		}
	}
	w.done(o, 1)
	return nil
}

// compileFLO: mode is .U32, n is .SH.
func compileFLO(p *program, o *op) error {
	o.run, o.mode, o.n = flo, o.inst.Mod(sass.U32), uint32(o.inst.Mod(sass.SH))
	return p.resolve(o, layout{0, 1, none, none, 2, none, none, none}, intValue)
}

// flo is the position of the highest one, of a signed number of the highest bit other than the sign; all ones where
// there is none. The predicate says that there is one.
func flo(w *warp, o *op) error {
	b, d := w.in(&o.b, 1), w.out(o, 0)
	var found uint32
	for i := range d {
		v := b[i]
		if o.mode == 0 && int32(v) < 0 {
			v = ^v
		}
		if v == 0 {
			d[i] = 0xffffffff
			continue
		}
		found |= 1 << i
		if o.n != 0 {
			d[i] = uint32(bits.LeadingZeros32(v))
		} else {
			d[i] = uint32(31 - bits.LeadingZeros32(v))
		}
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

func compileIDP(p *program, o *op) error {
	o.run = idp4
	if o.mode = o.inst.Mod(sass.IdpMode); o.mode != sass.Idp4A {
		o.run = idp2
	}
	if t := o.inst.Mod(sass.SrcType); t == sass.TypeS8 || t == sass.TypeS16 {
		o.n |= 1
	}
	if o.inst.Mod(sass.SrcType2) == sass.TypeS8 {
		o.n |= 2
	}
	return p.resolve(o, layoutABC, intValue)
}

// part extracts a field of a packed register, with its sign if it has one.
func part(v uint32, at, width int, signed bool) uint32 {
	v = v >> at << (32 - width)
	if signed {
		return uint32(int32(v) >> (32 - width))
	}
	return v >> (32 - width)
}

// idp4 is c plus the dot product of four bytes; n says which operand is signed.
func idp4(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		sum := c[i]
		for k := 0; k < 32; k += 8 {
			sum += part(a[i], k, 8, o.n&1 != 0) * part(b[i], k, 8, o.n&2 != 0)
		}
		d[i] = sum
	}
	w.done(o, 1)
	return nil
}

// idp2 is c plus two halves of a times two bytes of b, the low or the high ones.
func idp2(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	at := 0
	if o.mode == sass.Idp2AHI {
		at = 16
	}
	for i := range d {
		d[i] = c[i] + part(a[i], 0, 16, o.n&1 != 0)*part(b[i], at, 8, o.n&2 != 0) +
			part(a[i], 16, 16, o.n&1 != 0)*part(b[i], at+8, 8, o.n&2 != 0)
	}
	w.done(o, 1)
	return nil
}

func compileVABSDIFF(p *program, o *op) error {
	o.run, o.n = vabsdiff, uint32(o.inst.Mod(sass.U32))
	return p.resolve(o, layout{0, 1, none, 2, 3, 4, none, none}, intValue)
}

func vabsdiff(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		x, y := int64(int32(a[i])), int64(int32(b[i]))
		if o.n != 0 {
			x, y = int64(a[i]), int64(b[i])
		}
		d[i] = uint32(max(x-y, y-x)) + c[i]
	}
	w.done(o, 1)
	return nil
}

func compileVABSDIFF4(p *program, o *op) error {
	o.run, o.n, o.mode = vabsdiff4, uint32(o.inst.Mod(sass.U32)), o.inst.Mod(sass.Acc)
	return p.resolve(o, layout{0, 1, none, 2, 3, 4, none, none}, intValue)
}

// vabsdiff4 works on four bytes; with mode (.ACC) it adds the differences to c.
func vabsdiff4(w *warp, o *op) error {
	a, b, c, d := w.in(&o.a, 0), w.in(&o.b, 1), w.in(&o.c, 2), w.out(o, 0)
	for i := range d {
		sum, packed := c[i], uint32(0)
		for k := 0; k < 32; k += 8 {
			x, y := int32(part(a[i], k, 8, o.n == 0)), int32(part(b[i], k, 8, o.n == 0))
			difference := uint32(max(x-y, y-x))
			sum += difference
			packed |= difference & 0xff << k
		}
		if d[i] = packed; o.mode != 0 {
			d[i] = sum
		}
	}
	w.done(o, 1)
	return nil
}

// compileP2R keeps the byte that is replaced in n.
func compileP2R(p *program, o *op) error {
	o.run, o.n = p2r, 8*uint32(o.inst.Mod(sass.ByteSel))
	return p.resolve(o, layout{0, none, none, 2, 3, none, none, none}, intValue)
}

// p2r puts the predicates that the mask b names into a byte of a.
func p2r(w *warp, o *op) error {
	a, b, d := w.in(&o.a, 0), w.in(&o.b, 1), w.out(o, 0)
	for i := range d {
		var set uint32
		for p := range 7 {
			set |= w.preds[p] >> i & 1 << p
		}
		mask := b[i] & 0xff
		d[i] = a[i]&^(mask<<o.n) | (set&mask)<<o.n
	}
	w.done(o, 1)
	return nil
}

func compileR2P(p *program, o *op) error {
	o.run, o.n = r2p, 8*uint32(o.inst.Mod(sass.ByteSel))
	if s := o.inst.Operands[1].Swz; s != 0 {
		o.n = 8 * uint32(s)
	}
	return p.resolve(o, layout{none, none, none, 1, 2, none, none, none}, intValue)
}

// r2p sets the predicates that the mask b names from a byte of a.
func r2p(w *warp, o *op) error {
	a, b := w.in(&o.a, 0), w.in(&o.b, 1)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		for p := range 7 {
			if b[i]>>p&1 != 0 {
				w.preds[p] = w.preds[p]&^(1<<i) | a[i]>>(o.n+uint32(p))&1<<i
			}
		}
	}
	return nil
}
