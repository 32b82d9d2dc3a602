package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"gpa/cubin/sass"
)

// warpgroupCompilers are the multiply-accumulate of four warps (PTX ISA, wgmma) and what orders it. A product is complete when it issues,
// as early as the PTX ISA allows: a part of it for each of the four warps. Waits for it cost time, and a warp goes on behind one when the others have
// issued their parts of what it waits for too, as a product is one of all four (PTX ISA, wgmma.wait_group): code lets one thread refill the matrices
// behind its own wait.
var warpgroupCompilers = map[sass.Op]compiler{
	sass.HGMMA:     compileGroupProduct,
	sass.QGMMA:     compileGroupProduct,
	sass.IGMMA:     compileGroupProduct,
	sass.BGMMA:     compileGroupProduct,
	sass.WARPGROUP: compileWarpgroup,
}

// groupRowBytes is what a product of a warpgroup takes of a row of A and of a column of B, whatever their types. Where A is sparse, B has
// twice as much.
const groupRowBytes = 32

// groupRows are the rows of A and D that one warp of the four has, of the 64.
const groupRows = 16

// A groupProduct is a multiply-accumulate of a warpgroup made ready. Every warp computes its own 16 rows of D from its rows of A and all of B.
// With g = lane/4 and t = lane%4:
//
//	A in registers: register r has bytes 4t+16(r div 2) of row g+8(r mod 2)
//	D of 32 bits: register i is row g+8(i/2 mod 2), column 8(i div 4)+2t+i mod 2; of 16 bits: register j has i = 2j and 2j+1
//
// The op's a is the register of A, u the descriptors, c the addend. The descriptor of B is the second also where A needs none.
type groupProduct struct {
	columns      int
	registers    int // of D
	inRegisters  bool
	transA       bool
	transB       bool
	negate       bool
	sat          bool
	a, b         factor
	format       numberFormat // of A and B
	formatB      numberFormat
	sum          fusedSum
	multiply     func(a, b byte) int32 // of integers and bits
	elementBytes int
	sparse       *sparsity // nil where A is not sparse

	scaled                  func(to *block, rows int) error // reads the scales of a block's rows and of the columns; nil where there are none
	rowScales, columnScales blockScales
}

// groupFormats are the types of factors whose products are summed up in floating point.
var groupFormats = map[uint16]numberFormat{
	sass.TypeF16: {10, -14}, sass.TypeBF16: {7, -126}, sass.TypeTF32: {10, -126}, sass.TypeE4M3: {3, -6}, sass.TypeE5M2: {2, -14},
}

// single and half are the formats of the addend.
var (
	single = numberFormat{23, -126}
	half   = numberFormat{10, -14}
)

func compileGroupProduct(p *program, o *op) error {
	in := o.inst
	at := findOperand(in, sass.KindGDesc)
	g := &groupProduct{columns: int(in.Mod(sass.GmmaN)), inRegisters: in.Operands[1].Source, elementBytes: 1}
	g.registers = g.columns / 2
	switch in.Op {
	case sass.IGMMA:
		g.multiply, g.sat = byteProduct(in.Mod(sass.SrcType) == sass.TypeS8, in.Mod(sass.SrcType2) == sass.TypeS8), in.Mod(sass.Sat) != 0
	case sass.BGMMA:
		g.multiply = func(a, b byte) int32 { return int32(bits.OnesCount8(a & b)) }
	default:
		if !g.floats(in) {
			return unsupported(o)
		}
	}
	if err := g.modifiers(o, &in.Operands[at]); err != nil {
		return err
	}
	if in.Mod(sass.Sparse) != 0 {
		if err := g.sparsity(p, o, at); err != nil {
			return err
		}
	}
	if o.run = g.run; in.Operands[0].Reg == sass.RZ { // what compilers write to close a group that has nothing in it
		o.run = nothing
	}
	if run := o.run; in.ClosesGroup() {
		o.run = func(w *warp, o *op) error {
			w.groups++
			return run(w, o)
		}
	}
	return g.operands(p, o, at)
}

func compileWarpgroup(_ *program, o *op) error {
	o.run = nothing
	if n, ok := o.inst.AwaitsGroups(); ok {
		o.gathers, o.n = true, uint32(n)
	}
	return nil
}

// warpsOfGroup are the warps of a warpgroup.
const warpsOfGroup = 4

// warpgroup returns the warps of the warp's warpgroup.
func (w *warp) warpgroup() []*warp {
	first := w.id - w.id%warpsOfGroup
	return w.block.warps[first:min(first+warpsOfGroup, len(w.block.warps))]
}

// ahead reports whether another warp of the warpgroup has yet to issue its part of a product that a wait is for. Those that cannot go on, as they have
// ended, wait at a barrier or repeat themselves, are not waited for: package check tells of them.
func (w *warp) ahead(o *op) bool {
	for _, other := range w.warpgroup() {
		if other.status == warpRunning && int32(other.groups+o.n-w.groups) < 0 && !other.asleep() {
			return true
		}
	}
	return false
}

// floats sets the types of a product of floating point; ok is false for one that there is not.
func (g *groupProduct) floats(in *sass.Inst) (ok bool) {
	a, b := in.Mod(sass.SrcType), in.Mod(sass.SrcType)
	g.sum = fusedSum{align: 25, keep: 23}
	if in.Op == sass.QGMMA {
		b = in.Mod(sass.SrcType2)
		g.sum = fusedSum{align: 13, keep: 13}
	}
	if in.Mod(sass.DstType) == sass.TypeF16 {
		g.sum.half, g.registers = true, g.columns/4
	}
	g.a, g.b = mmaFactors[a], mmaFactors[b]
	g.format, g.formatB = groupFormats[a], groupFormats[b]
	g.elementBytes = int(g.a.bits) / 8
	return g.format.frac != 0 && g.formatB.frac != 0
}

// modifiers reads the flags behind the descriptors and the sign of A in registers. Only matrices of 16 bits can be transposed (PTX ISA,
// wgmma.mma_async).
func (g *groupProduct) modifiers(o *op, descriptors *sass.Operand) error {
	flags := uint16(descriptors.Swz)
	g.transA, g.transB = flags&sass.GroupTransposeA != 0, flags&sass.GroupTransposeB != 0
	g.negate = flags&sass.GroupNegateA != 0 != (flags&sass.GroupNegateB != 0)
	if g.inRegisters && o.inst.Operands[1].Neg {
		g.negate = !g.negate
	}
	if (g.transA || g.transB) && g.elementBytes != 2 {
		return fmt.Errorf("%s with a transposed matrix of %d-byte elements is not supported", o.inst.Mnemonic(), g.elementBytes)
	}
	return nil
}

// sparsity resolves the register that says which elements of A there are, which is in o.b.
func (g *groupProduct) sparsity(p *program, o *op, at int) (err error) {
	in := o.inst
	if g.sparse = newSparsity(8*g.elementBytes, groupRowBytes/g.elementBytes, int(in.Operands[at+4].Imm)); g.sparse == nil {
		return unsupported(o)
	}
	o.b, err = p.source(&in.Operands[at+3], rawValue)
	return err
}

// column returns the number of the element of a column of B that the k-th one of a row of A meets.
func (g *groupProduct) column(metadata *lanes, row, k int) int {
	if g.sparse == nil {
		return k
	}
	return g.sparse.place(metadata, row, k)
}

// byteProduct multiplies bytes with or without signs.
func byteProduct(signA, signB bool) func(a, b byte) int32 {
	value := func(v byte, signed bool) int32 {
		if signed {
			return int32(int8(v))
		}
		return int32(v)
	}
	return func(a, b byte) int32 { return value(a, signA) * value(b, signB) }
}

func (g *groupProduct) operands(p *program, o *op, at int) (err error) {
	in := o.inst
	d := in.Operands[0]
	if o.dst = p.dest(&d); o.dst != sinkRegister {
		p.use(int(o.dst) + g.registers)
	}
	if g.inRegisters {
		if o.a, err = p.source(&in.Operands[1], rawValue); err != nil {
			return err
		}
	}
	if o.u, err = p.uniformSource(&in.Operands[at], 4); err != nil {
		return err
	}
	if o.c, err = p.source(&in.Operands[at+1], rawValue); err != nil {
		return err
	}
	if c := &in.Operands[at+1]; c.Reg != sass.RZ {
		p.use(int(c.Reg) + g.registers)
	}
	o.pp = predicateOf(&in.Operands[at+2])
	return nil
}

// run computes the rows of a warp.
func (g *groupProduct) run(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	a, b, err := g.factors(w, o)
	if err != nil {
		return err
	}
	var d [128]lanes
	if w.get(o.pp) != 0 {
		for i := range g.registers {
			d[i] = *w.word(&o.c, i)
		}
	}
	metadata := *w.word(&o.b, 0)
	if g.multiply != nil {
		g.integers(&d, &metadata, a, b)
	} else {
		g.numbers(&d, &metadata, a, b)
	}
	for i := range g.registers {
		w.regs[int(o.dst)+i] = d[i]
	}
	return nil
}

// A groupRow is what a product takes of a row of A or a column of B; only that of sparse products fills it.
type groupRow [2 * groupRowBytes]byte

// factors reads the warp's rows of A and all columns of B.
func (g *groupProduct) factors(w *warp, o *op) (a, b []groupRow, err error) {
	all := make([]groupRow, groupRows+g.columns)
	a, b = all[:groupRows], all[groupRows:]
	bytes := groupRowBytes
	if g.sparse != nil {
		bytes *= 2
	}
	word := func(k int) *matrix { return &matrix{w.matrixDescriptor(&o.u, k), w.block, g.transB, 2} }
	if g.inRegisters {
		bytesOf(w, &o.a, a, 4)
		return a, b, word(1).read(w, o, b, 0, bytes)
	}
	rows := word(0)
	rows.transposed = g.transA
	if err = rows.read(w, o, a, groupRows*(w.id&3), groupRowBytes); err != nil {
		return nil, nil, err
	}
	return a, b, word(1).read(w, o, b, 0, bytes)
}

// groupElement returns the row of a warp's part of D and the column of the i-th element that a lane holds.
func groupElement(lane, i int) (row, column int) {
	return lane>>2 + 8*(i>>1&1), 8*(i>>2) + 2*(lane&3) + i&1
}

// integers adds sums of products of integers, which wrap around or are clamped.
func (g *groupProduct) integers(d *[128]lanes, metadata *lanes, a, b []groupRow) {
	for i := range g.registers {
		for lane := range 32 {
			row, column := groupElement(lane, i)
			sum := int64(int32(d[i][lane]))
			for k := range groupRowBytes {
				sum += int64(g.multiply(a[row][k], b[column][g.column(metadata, row, k)]))
			}
			if g.sat {
				sum = max(math.MinInt32, min(math.MaxInt32, sum))
			}
			d[i][lane] = uint32(sum)
		}
	}
}

// numbers adds products of floating point.
func (g *groupProduct) numbers(d *[128]lanes, metadata *lanes, a, b []groupRow) {
	if g.sparse != nil || !g.finite(d, a, b) {
		g.terms(d, metadata, a, b)
	}
}

// terms is numbers for any, one by one.
func (g *groupProduct) terms(d *[128]lanes, metadata *lanes, a, b []groupRow) {
	depth, height := groupRowBytes/g.elementBytes, groupRowBytes/g.elementBytes
	if g.sparse != nil {
		height *= 2
	}
	rows, columns := termsOf(a, g.a, g.format, depth), termsOf(b, g.b, g.formatB, height)
	g.rowScales.scale(rows, depth)
	g.columnScales.scale(columns, height)
	if g.negate {
		for i := range rows {
			rows[i] = rows[i].minus()
		}
	}
	// Factors of two formats have products with the fractions of both.
	frac := g.format.frac + g.formatB.frac
	var met [groupRowBytes]term
	for i := range 2 * g.columns / 4 {
		for lane := range 32 {
			row, column := groupElement(lane, i)
			x, y := rows[row*depth:][:depth], columns[column*height:][:height]
			if g.sparse != nil {
				y = g.met(&met, metadata, row, y)
			}
			if !g.sum.half {
				c := single.termOf(float64(math.Float32frombits(d[i][lane])))
				d[i][lane] = g.sum.dot(x, y, frac, c, single.frac)
				continue
			}
			shift := 16 * (i & 1)
			c := half.termOf(f16ToF64(uint16(d[i/2][lane] >> shift)))
			d[i/2][lane] = d[i/2][lane]&^(0xffff<<shift) | g.sum.dot(x, y, frac, c, half.frac)<<shift
		}
	}
}

// finite is numbers where nothing is infinite or no number; ok is false where something is.
func (g *groupProduct) finite(d *[128]lanes, a, b []groupRow) (ok bool) {
	columns := g.columnElements(b)
	return !columns.special && g.finiteRows(d, a, columns)
}

// columnElements are those of B, of eight columns side by side one of each in turn.
func (g *groupProduct) columnElements(b []groupRow) *elements {
	depth := groupRowBytes / g.elementBytes
	columns := newElements(len(b) * depth)
	for c := range b {
		for k := range depth {
			columns.set((c/8*depth+k)*8+c%8, g.b.element(&b[c], k), g.formatB, g.columnScales.of(c))
		}
	}
	return columns
}

// finiteRows multiplies rows of A with columns that are finite. A product times a power of two is a f64, of which what lies below the
// point is cut off as [fusedSum.dot] does.
func (g *groupProduct) finiteRows(d *[128]lanes, a []groupRow, columns *elements) (ok bool) {
	depth := groupRowBytes / g.elementBytes
	rows := newElements(len(a) * depth)
	for r := range a {
		for k := range depth {
			rows.set(r*depth+k, g.a.element(&a[r], k), g.format, g.rowScales.of(r))
		}
	}
	if rows.special {
		return false
	}
	format := single
	if g.sum.half {
		format = half
	}
	sign := 1.0
	if g.negate {
		sign = -1
	}
	for i := range g.registers {
		for _, v := range d[i] {
			if !g.sum.half && v&infF32 == infF32 || g.sum.half && (v&0x7c00 == 0x7c00 || v&0x7c00_0000 == 0x7c00_0000) {
				return false
			}
		}
	}
	var largest [8]int32
	var addends, scale, sums [8]float64
	var cells [8]*uint32 // of D, for the columns
	for row := range a {
		values, exponents := rows.values[row*depth:][:depth], rows.exponents[row*depth:][:depth]
		for first := 0; first < g.columns; first += 8 {
			mmaWise.Exponents(&largest, exponents, columns.exponents[first*depth:])
			for j := range largest {
				// Columns 2t and 2t+1 of eight are in two registers of lane t of the row, or in the halves of one; see groupElement.
				register, lane := first/8*4+row/8*2+j&1, row%8*4+j/2
				if g.sum.half {
					register /= 2
				}
				cell := &d[register&127][lane&31]
				if cells[j] = cell; g.sum.half {
					addends[j] = f16ToF64(uint16(*cell >> (j & 1 * 16)))
				} else {
					addends[j] = float64(math.Float32frombits(*cell))
				}
				largest[j] = max(largest[j], format.exponent(addends[j]))
				scale[j] = math.Float64frombits(uint64(1023+g.sum.align-int(largest[j])) << 52)
			}
			mmaWise.Cut(&sums, values, columns.values[first*depth:], &scale)
			for j, sum := range sums {
				word := g.sum.round(sign*sum+math.Trunc(addends[j]*scale[j]), int(largest[j])-g.sum.align)
				if shift := j & 1 * 16; g.sum.half {
					word = *cells[j]&^(0xffff<<shift) | word<<shift
				}
				*cells[j] = word
			}
		}
	}
	return true
}

// elements are numbers with the exponents by which they count in a fusedSum.
type elements struct {
	values    []float64
	exponents []int32
	special   bool // there is one that is not finite
}

func newElements(n int) *elements {
	return &elements{values: make([]float64, n), exponents: make([]int32, n)}
}

// set enters a number, times a power of two where that is not nil.
func (e *elements) set(i int, x float64, f numberFormat, by *blockScale) {
	e.values[i], e.exponents[i] = x, f.exponent(x)
	e.special = e.special || !isFinite(x)
	if by != nil {
		e.values[i], e.exponents[i] = math.Ldexp(x, int(by.exp)), e.exponents[i]+by.exp
		e.special = e.special || by.special != 0
	}
}

// element is the k-th element of a row.
func (f *factor) element(row *groupRow, k int) float64 {
	switch {
	case f.halves == halvesF16:
		return f16ToF64(binary.LittleEndian.Uint16(row[2*k:]))
	case f.halves == halvesBF16:
		return bf16ToF64(binary.LittleEndian.Uint16(row[2*k:]))
	case f.bytes != nil:
		return f.bytes[row[k]]
	}
	return f.value(uint64(binary.LittleEndian.Uint32(row[4*k:])))
}

// met returns the elements of a column of B that those of a row of A meet.
func (g *groupProduct) met(to *[groupRowBytes]term, metadata *lanes, row int, column []term) []term {
	depth := groupRowBytes / g.elementBytes
	for k := range depth {
		to[k] = column[g.sparse.place(metadata, row, k)]
	}
	return to[:depth]
}

// termsOf takes the elements of rows apart.
func termsOf(rows []groupRow, f factor, format numberFormat, depth int) []term {
	terms := make([]term, 0, len(rows)*depth)
	size := int(f.bits) / 8
	for r := range rows {
		for k := range depth {
			var word [8]byte
			copy(word[:], rows[r][k*size:][:size])
			terms = append(terms, format.termOf(f.value(binary.LittleEndian.Uint64(word[:]))))
		}
	}
	return terms
}

// A matrixDescriptor says where a matrix lies in shared memory (PTX ISA, wgmma: matrix descriptor).
type matrixDescriptor uint64

// field returns bits of the descriptor that count 16 bytes.
func (m matrixDescriptor) field(at int) uint64 { return uint64(m) >> at & (1<<14 - 1) << 4 }

// swizzle returns the bytes of a row of the pattern, 16 where there is none.
func (m matrixDescriptor) swizzle() uint64 { return [4]uint64{16, 128, 64, 32}[m>>62] }

// A matrix is one in the shared memory of a block. Its elements have a size in bytes, which counts where it is transposed.
type matrix struct {
	matrixDescriptor
	block      *block
	transposed bool
	size       uint64
}

// matrixDescriptor returns the k-th of the descriptors in uniform registers.
func (w *warp) matrixDescriptor(s *source, k int) matrixDescriptor {
	return matrixDescriptor(w.word(s, 2*k)[0]) | matrixDescriptor(w.word(s, 2*k+1)[0])<<32
}

// at returns the address of 16 bytes of the matrix. Where the matrix is not transposed those are part of a row of A or column of B, n
// of the rows before it and h of the parts; where it is, they are the elements from n on in the depth h.
func (m *matrix) at(n, h uint64) uint64 {
	start, lead, stride, width := m.field(0), m.field(16), m.field(32), m.swizzle()
	plain := width == matrixUnit
	switch {
	case !m.transposed && plain:
		return start + n%8*16 + n/8*stride + h*lead
	case !m.transposed:
		return m.swizzled(start + n%8*width + n/8*stride + h*16)
	case plain:
		return start + n/(matrixUnit/m.size)*stride + h%8*16 + h/8*lead
	}
	row := width / m.size
	return m.swizzled(start + n%row*m.size + n/row*lead + h%8*width + h/8*stride)
}

// matrixUnit is how many bytes of a matrix lie together whatever its layout.
const matrixUnit = 16

// swizzled applies the pattern to an address: bits 7 and up are added without carry to bits 4 and up. Where the pattern does not begin at
// a multiple of its size, the descriptor says at which 128 bytes.
func (m matrixDescriptor) swizzled(a uint64) uint64 {
	base := uint64(m) >> 49 & 7
	return a ^ ((a>>7-base)&(m.swizzle()/16-1))<<4
}

// read fills so many bytes of rows of A or of columns of B, of which the first is the one of that number.
func (m *matrix) read(w *warp, o *op, rows []groupRow, first, bytes int) error {
	if !m.transposed && bytes > int(m.swizzle()) && m.swizzle() != matrixUnit {
		return w.fault(o, w.first(), Unsupported, fmt.Sprintf("%s of a matrix with columns of %d bytes in a swizzle of %d", o.inst.Mnemonic(), bytes, m.swizzle()))
	}
	if !m.transposed {
		for i := range rows {
			for h := range uint64(bytes / matrixUnit) {
				from, err := m.unit(w, o, m.at(uint64(first+i), h))
				if err != nil {
					return err
				}
				copy(rows[i][matrixUnit*h:], from)
			}
		}
		return nil
	}
	size := int(m.size)
	for i := 0; i < len(rows); i += matrixUnit / size {
		for k := range bytes / size {
			from, err := m.unit(w, o, m.at(uint64(first+i), uint64(k)))
			if err != nil {
				return err
			}
			for j := range min(matrixUnit/size, len(rows)-i) {
				copy(rows[i+j][size*k:size*(k+1)], from[size*j:])
			}
		}
	}
	return nil
}

// unit reads 16 bytes.
func (m *matrix) unit(w *warp, o *op, addr uint64) ([]byte, error) {
	w.accessed(Span{Kind: Load, Space: Shared, Addr: addr, Size: matrixUnit, Block: m.block.number})
	return w.bytesOf(o, w.first(), m.block, addr, matrixUnit)
}
