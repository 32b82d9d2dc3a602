package emu

import (
	"fmt"
	"math"
	"math/bits"

	"gpa/cubin/sass"
)

// An mma is a matrix multiply-accumulate of Turing and later: a warp computes D = A×B + C of a matrix A of 8 or 16 rows, a
// matrix B of 8 columns and matrices C and D. The PTX ISA (mma) says which elements a lane holds. With g = lane/4 and
// t = lane%4, p elements of A or B in a register, and counting registers:
//
//	register r of A, element j: row g + 8(r mod n), column 4p(r div n) + pt + j, where n is the rows of A divided by 8
//	register r of B, element j: row 4pr + pt + j, column g
//	element i of C and D: row g + 8(i div 2), column 2t + i mod 2
//
// Neither the order of the additions nor their rounding is published for floating-point numbers. Here an element is the exact
// sum of its products and of C, rounded once. Sums of integers are exact.
type mma struct {
	tall   int // rows of A divided by 8
	depth  int // columns of A, as its registers hold them
	a, b   factor
	sparse *sparsity // nil where B has as many rows
	result uint16    // type of C and D
	sat    bool      // sums of integers are clamped
	exact  bool      // products need no more than 53 bits
}

// A factor says how elements lie in registers: their bits, 64 for one in two registers, their value, and how many digits that has.
type factor struct {
	bits   uint
	value  func(uint64) float64
	digits int
	halves halfType      // what its elements are, where they are of 16 bits
	neg    bool          // value is negated
	bytes  *[256]float64 // values of elements of 8 bits
	words  bool          // tf32
}

// A halfType is a type of 16 bits.
type halfType uint8

const (
	noHalves halfType = iota
	halvesF16
	halvesBF16
)

// mmaDepths are the rows of A divided by 8 and its columns, by shape.
var mmaDepths = map[uint16][2]int{
	sass.Mma1684: {2, 4}, sass.Mma1688: {2, 8}, sass.Mma16816: {2, 16}, sass.Mma16832: {2, 32}, sass.Mma16864: {2, 64},
	sass.Mma168128: {2, 128},
	sass.Mma8816:   {1, 16}, sass.Mma8832: {1, 32}, sass.Mma884: {1, 4},
}

// mmaFactors are the types of the elements of A and B. Of a tf32 the low 13 bits do not count.
var mmaFactors = map[uint16]factor{
	sass.TypeF16:  {bits: 16, value: func(v uint64) float64 { return f16ToF64(uint16(v)) }, digits: 11, halves: halvesF16},
	sass.TypeBF16: {bits: 16, value: func(v uint64) float64 { return bf16ToF64(uint16(v)) }, digits: 8, halves: halvesBF16},
	sass.TypeTF32: {bits: 32, value: func(v uint64) float64 { return tf32ToF64(uint32(v)) }, digits: 11, words: true},
	sass.TypeF64:  {bits: 64, value: math.Float64frombits, digits: 53},
	sass.TypeU8:   ofBytes(8, func(v uint64) float64 { return float64(uint8(v)) }),
	sass.TypeS8:   ofBytes(8, func(v uint64) float64 { return float64(int8(v)) }),
	sass.TypeU4:   {bits: 4, value: func(v uint64) float64 { return float64(v & 15) }, digits: 4},
	sass.TypeS4:   {bits: 4, value: func(v uint64) float64 { return float64(int8(v<<4) >> 4) }, digits: 4},
	sass.TypeE4M3: ofBytes(4, func(v uint64) float64 { return formatE4M3.value(byte(v)) }),
	sass.TypeE5M2: ofBytes(3, func(v uint64) float64 { return formatE5M2.value(byte(v)) }),
	sass.TypeE2M3: inBytes(sass.TypeE2M3, 0),
	sass.TypeE3M2: inBytes(sass.TypeE3M2, 0),
	sass.TypeE2M1: inBytes(sass.TypeE2M1, 2),
}

// inBytes is a factor of elements of less than 8 bits, each in a byte from some bit on: those of 6 bits lie below, those of 4 bits in the middle
// (CUTLASS, fp4_shift_A of the products of sm_120).
func inBytes(typ uint16, from uint) factor {
	n := narrowTypes[typ]
	return ofBytes(n.format.frac+1, func(v uint64) float64 { return n.value(byte(v >> from)) })
}

// ofBytes is a factor of elements of 8 bits.
func ofBytes(digits int, value func(uint64) float64) factor {
	f := factor{bits: 8, value: value, digits: digits, bytes: new([256]float64)}
	for v := range f.bytes {
		f.bytes[v] = value(uint64(v))
	}
	return f
}

// maxDepth is the largest depth of a product, but for those of bits.
const maxDepth = 64

func compileMMA(p *program, o *op) error {
	in := o.inst
	if in.Mod(sass.Scaled) != 0 {
		return compileScaledMMA(p, o)
	}
	size, ok := mmaDepths[in.Mod(sass.MmaShape)]
	m := &mma{tall: size[0], depth: size[1], exact: true}
	switch in.Op {
	case sass.IMMA:
		m.a, m.b, m.result = mmaFactors[in.Mod(sass.SrcType)], mmaFactors[in.Mod(sass.SrcType2)], sass.TypeS32
		m.sat = in.Mod(sass.Sat) != 0
	case sass.QMMA:
		m.a, m.b, m.result = mmaFactors[in.Mod(sass.SrcType)], mmaFactors[in.Mod(sass.SrcType2)], in.Mod(sass.DstType)
	case sass.DMMA:
		m.a, m.result, m.exact = mmaFactors[sass.TypeF64], sass.TypeF64, false
		ok = ok && in.Mod(sass.Round) == sass.RoundRN
	default:
		m.a, m.result = mmaFactors[in.Mod(sass.SrcType)], in.Mod(sass.DstType)
		ok = ok && in.Mod(sass.Sat) == 0
	}
	if m.b.bits == 0 {
		m.b = m.a
	}
	if !ok || m.a.bits == 0 {
		return unsupported(o)
	}
	o.run = m.run
	if in.Mod(sass.Sparse) != 0 {
		m.depth /= 2
		if err := m.compileSparse(p, o); err != nil {
			return err
		}
	}
	return m.operands(p, o)
}

// compileSparse resolves what a product needs beside that tells which elements of B meet those of A.
func (m *mma) compileSparse(p *program, o *op) (err error) {
	in := o.inst
	if m.sparse = newSparsity(int(m.a.bits), m.depth, int(in.Operands[6].Imm)); m.sparse == nil {
		return unsupported(o)
	}
	o.run = m.runSparse
	o.u, err = p.source(&in.Operands[5], rawValue)
	return err
}

// operands resolves A, B, C and D. Their modifiers apply to elements: the signs of A and B to the products, the others are
// not supported.
func (m *mma) operands(p *program, o *op) error {
	for i, s := range o.inst.Operands[1:4] {
		if s.Abs || s.Neg && i == 2 {
			return fmt.Errorf("%s with |x| or -C is not supported", o.inst.Mnemonic())
		}
	}
	if o.inst.Operands[1].Neg != o.inst.Operands[2].Neg {
		m.negate(&m.a)
	}
	if err := p.resolve(o, layoutABC, rawValue); err != nil {
		return err
	}
	o.pp = addendPredicate(o.inst)
	if o.dst != sinkRegister {
		p.use(int(o.dst) + m.registers())
	}
	return nil
}

// addendPredicate is the uniform predicate of sm_86 and later without which C is taken as zero. Compilers do not write it; the
// hand-written products of cuBLAS have it false in the first turn of their loops, whose accumulators nothing has cleared.
func addendPredicate(in *sass.Inst) predicate {
	if in.Arch < sass.SM86 {
		return predicate{reg: sass.PT}
	}
	return predicateOf(&in.Operands[4])
}

// addend reads the registers of C.
func (w *warp) addend(o *op, c []lanes) {
	if w.get(o.pp) == 0 {
		clear(c)
		return
	}
	for k := range c {
		c[k] = *w.word(&o.c, k)
	}
}

func (m *mma) negate(f *factor) {
	value := f.value
	f.value, f.neg, f.bytes = func(v uint64) float64 { return -value(v) }, !f.neg, nil
}

// sign is what flips the signs of two halves in a register where the factor is negated.
func (f *factor) sign() uint32 {
	if f.neg {
		return 0x8000_8000
	}
	return 0
}

// registers is the number of registers of C and D.
func (m *mma) registers() int {
	switch m.result {
	case sass.TypeF16:
		return m.tall
	case sass.TypeF64:
		return 4 * m.tall
	}
	return 2 * m.tall
}

// A product holds the factors of an mma, and within what the elements of each row and column lie.
type product struct {
	a     [16][maxDepth]float64
	b     [8][maxDepth]float64 // by columns
	spanA [16]span
	spanB [8]span
	c     [8]lanes // registers of C, read before D is written, which may be the same ones
	sums  [16][8]float64
	of    [3]magnitudes // of A, B and C
}

func (m *mma) run(w *warp, o *op) error {
	t := &w.mma
	m.a.rows(w, &o.a, m.tall, m.depth, t.a[:])
	m.b.rows(w, &o.b, 1, m.depth, t.b[:])
	w.addend(o, t.c[:m.registers()])
	switch {
	case m.exact && m.result == sass.TypeF32 && m.fits(w, o):
		m.sums(w, o)
	case m.exact && m.result == sass.TypeF32:
		m.products(w, o)
	case m.result == sass.TypeS32:
		m.integers(w, o)
	default:
		for lane := range 32 {
			for i := range 2 * m.tall {
				m.element(w, o, &t.a[lane>>2+8*(i/2)], &t.b[2*(lane&3)+i&1], &t.c, lane, i)
			}
		}
	}
	w.done(o, m.registers())
	return nil
}

// fits reports whether no sum needs more bits than an f64 has, whatever the order of its additions, by the largest and the least of all halves and
// addends.
func (m *mma) fits(w *warp, o *op) bool {
	if m.a.halves == noHalves && !m.a.words {
		return false
	}
	t := &w.mma
	a, b, addends := &t.of[0], &t.of[1], &t.of[2]
	*a, *b, *addends = emptyMagnitudes(), emptyMagnitudes(), emptyMagnitudes()
	each, extend, size, fraction, bias := 8, mmaWise.HalfRange, 16, m.a.digits-1, 1<<(15-m.a.digits)-1
	if m.a.words {
		each, extend, size, fraction, bias = 4, mmaWise.WordRange, 32, 23, 127
	}
	for r := range m.tall * m.depth / each {
		extend(a, w.word(&o.a, r))
	}
	for r := range m.depth / each {
		extend(b, w.word(&o.b, r))
	}
	for i := range 2 * m.tall {
		mmaWise.WordRange(addends, &t.c[i])
	}
	count := m.a.digits - 1
	s := addends.span(32, 23, 23, 127).with(a.span(size, fraction, count, bias).times(b.span(size, fraction, count, bias)))
	return s.high-s.low+bits.Len(uint(m.depth)) <= 53
}

// sums computes all elements of D, of type f32, whose sums no order of the additions rounds.
func (m *mma) sums(w *warp, o *op) {
	t := &w.mma
	mmaWise.Dots(&t.sums, &t.a, &t.b, 8*m.tall, m.depth)
	for i := range 2 * m.tall {
		d, addends := w.out(o, i), &t.c[i]
		for lane := range 32 {
			row, column := lane>>2+8*(i/2), 2*(lane&3)+i&1
			addend := float64(math.Float32frombits(addends[lane]))
			d[lane] = math.Float32bits(float32(addend + t.sums[row&15][column] + 0)) // no sum is -0
		}
	}
}

// products computes all elements of D, of type f32, of which those that need no more bits than an f64 has are added up as they come.
func (m *mma) products(w *warp, o *op) {
	t := &w.mma
	for i := range 8 * m.tall {
		t.spanA[i] = spanOf(t.a[i][:m.depth], m.a.digits)
	}
	for i := range t.b {
		t.spanB[i] = spanOf(t.b[i][:m.depth], m.b.digits)
	}
	carry := bits.Len(uint(m.depth)) // of as many products and another number
	for i := range 2 * m.tall {
		d := w.out(o, i)
		for lane := range 32 {
			row, column := lane>>2+8*(i/2), 2*(lane&3)+i&1
			addend := float64(math.Float32frombits(t.c[i][lane]))
			s := spanOf([]float64{addend}, 24).with(t.spanA[row].times(t.spanB[column]))
			if s.high-s.low+carry <= 53 {
				d[lane] = math.Float32bits(float32(addend + dotOf(t.a[row][:m.depth], t.b[column][:m.depth]) + 0)) // no sum is -0
				continue
			}
			d[lane] = uint32(m.dot(&t.a[row], &t.b[column], addend, toF32))
		}
	}
}

// integers computes all elements of D that are integers.
func (m *mma) integers(w *warp, o *op) {
	t := &w.mma
	mmaWise.Dots(&t.sums, &t.a, &t.b, 8*m.tall, m.depth)
	for i := range 2 * m.tall {
		d := w.out(o, i)
		for lane := range d {
			d[lane] = m.integer(t.sums[lane>>2+8*(i/2)][2*(lane&3)+i&1], t.c[i][lane])
		}
	}
}

// rows is gather into rows, without asking for each element what its type is where that is a frequent one.
func (f *factor) rows(w *warp, s *source, tall, depth int, rows [][maxDepth]float64) {
	each := 128 / int(f.bits) // elements of a row in a register
	if f.halves == noHalves && f.bytes == nil && !f.words {
		f.gather(w, s, tall, depth, func(lane, r, k int, v float64) { rows[lane>>2+8*(r%tall)][k] = v })
		return
	}
	for r := range tall * depth / each {
		eight, at, register := (*[8][maxDepth]float64)(rows[r%tall*8:]), r/tall*each, w.word(s, r)
		switch {
		case f.halves != noHalves:
			mmaWise.Gather(eight, at, register, f.sign(), f.halves)
		case f.words:
			for lane, v := range register {
				eight[lane>>2][at+lane&3] = tf32ToF64(v ^ f.sign()&signF32)
			}
		default:
			for lane, v := range register {
				to := eight[lane>>2][at+lane&3*4:][:4]
				to[0], to[1], to[2], to[3] = f.bytes[v&0xff], f.bytes[v>>8&0xff], f.bytes[v>>16&0xff], f.bytes[v>>24]
			}
		}
	}
}

// tf32ToF64 is the value of a tf32, of which the low 13 bits do not count.
func tf32ToF64(v uint32) float64 { return float64(math.Float32frombits(v &^ 0x1fff)) }

// gather gives every element that a warp holds of a factor of some depth to put, with its place along the depth. Its registers hold
// tall rows of 8 in turn.
func (f *factor) gather(w *warp, s *source, tall, depth int, put func(lane, r, k int, v float64)) {
	words := max(int(f.bits)/32, 1)
	each := max(32/int(f.bits), 1)
	for r := range tall * depth / (4 * each) {
		low := w.word(s, r*words)
		high := &zeroLanes
		if words == 2 {
			high = w.word(s, r*words+1)
		}
		for lane := range 32 {
			v := uint64(high[lane])<<32 | uint64(low[lane])
			at := r/tall*4*each + lane&3*each
			for j := range each {
				put(lane, r, at+j, f.value(v>>(uint(j)*f.bits)))
			}
		}
	}
}

// element computes the i-th element of D that a lane holds.
func (m *mma) element(w *warp, o *op, row, column *[maxDepth]float64, c *[8]lanes, lane, i int) {
	switch m.result {
	case sass.TypeS32:
		w.out(o, i)[lane] = m.integer(dotOf(row[:m.depth], column[:m.depth]), c[i][lane])
	case sass.TypeF32:
		w.out(o, i)[lane] = uint32(m.dot(row, column, float64(math.Float32frombits(c[i][lane])), toF32))
	case sass.TypeF16:
		shift := 16 * (i & 1)
		h := m.dot(row, column, f16ToF64(uint16(c[i/2][lane]>>shift)), toF16)
		d := w.out(o, i/2)
		d[lane] = d[lane]&^(0xffff<<shift) | uint32(h)<<shift
	case sass.TypeF64:
		d := m.dot(row, column, math.Float64frombits(uint64(c[2*i+1][lane])<<32|uint64(c[2*i][lane])), toF64)
		w.out(o, 2*i)[lane], w.out(o, 2*i+1)[lane] = uint32(d), uint32(d>>32)
	}
}

// integer adds a sum of products of integers, which f64 holds exactly. The sum wraps around, or is clamped.
func (m *mma) integer(sum float64, c uint32) uint32 {
	total := int64(sum) + int64(int32(c))
	if m.sat {
		total = max(math.MinInt32, min(math.MaxInt32, total))
	}
	return uint32(total)
}

// bitProducts are the operations of BMMA.
var bitProducts = map[uint16]func(a, b uint32) uint32{
	sass.MmaXOR: func(a, b uint32) uint32 { return a ^ b },
	sass.MmaAND: func(a, b uint32) uint32 { return a & b },
}

// A bitMMA is a BMMA: an element of D is that of C plus the number of ones in the XOR or the AND of a row of A and a column of
// B. Bits lie in registers as mma's elements do, 32 in each.
type bitMMA struct {
	tall, words int // rows of A divided by 8, and registers of a row
	join        func(a, b uint32) uint32
}

func compileBMMA(p *program, o *op) error {
	b := &bitMMA{tall: 2, words: 4, join: bitProducts[o.inst.Mod(sass.MmaOp)]}
	switch o.inst.Mod(sass.MmaShape) {
	case sass.Mma88128:
		b.tall = 1
	case sass.Mma168256:
		b.words = 8
	}
	o.run = b.run
	if err := p.resolve(o, layoutABC, rawValue); err != nil {
		return err
	}
	o.pp = addendPredicate(o.inst)
	if o.dst != sinkRegister {
		p.use(int(o.dst) + 2*b.tall)
	}
	return nil
}

func (b *bitMMA) run(w *warp, o *op) error {
	var rows [16][8]uint32
	var columns [8][8]uint32
	for r := range b.tall * b.words / 4 {
		for lane, v := range w.word(&o.a, r) {
			rows[lane>>2+8*(r%b.tall)][r/b.tall*4+lane&3] = v
		}
	}
	for r := range b.words / 4 {
		for lane, v := range w.word(&o.b, r) {
			columns[lane>>2][r*4+lane&3] = v
		}
	}
	var c [4]lanes
	w.addend(o, c[:2*b.tall])
	for i := range 2 * b.tall {
		d := w.out(o, i)
		for lane := range d {
			row, column := &rows[lane>>2+8*(i/2)], &columns[2*(lane&3)+i&1]
			sum := c[i][lane]
			for k := range b.words {
				sum += uint32(bits.OnesCount32(b.join(row[k], column[k])))
			}
			d[lane] = sum
		}
	}
	w.done(o, 2*b.tall)
	return nil
}
