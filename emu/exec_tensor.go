package emu

import (
	"math"

	"gpa/cubin/sass"
)

// tensorCompilers is the matrix multiply-accumulate of the tensor cores.
var tensorCompilers = map[sass.Op]compiler{
	sass.HMMA: compileHMMA,
	sass.MOVM: compileMOVM,
	sass.IMMA: compileMMA,
	sass.DMMA: compileMMA,
	sass.QMMA: compileMMA,
	sass.OMMA: compileScaledMMA,
	sass.BMMA: compileBMMA,
}

// An hmma is an HMMA.884: in each quad pair, lanes 4q to 4q+3 and 16+4q to 16+4q+3, D = A×B + C of an 8×4 matrix A of
// f16, a 4×8 matrix B of f16 and 8×8 matrices C and D, whose elements lie in the lanes as the PTX ISA says of mma.m8n8k4.
// A step computes two registers of D from the same registers of C: two elements a lane in f32, four in f16.
//
// Neither the order of the additions nor their rounding is published; products are known to be exact. Here an element
// is summed up in f64 and rounded once.
type hmma struct {
	colA, colB bool // the layouts of A and B: by columns
	negA, negB bool
	f32        bool // C and D
	step       int
	satFinite  bool // infinities become the largest finite numbers
}

func compileHMMA(p *program, o *op) error {
	in := o.inst
	if in.Mod(sass.MmaShape) != sass.Mma884 {
		return compileMMA(p, o)
	}
	a, b := &in.Operands[1], &in.Operands[2]
	h := hmma{colA: a.Swz == sass.LayoutCOL, colB: b.Swz == sass.LayoutCOL, negA: a.Neg, negB: b.Neg,
		f32: in.Mod(sass.DstType) == sass.TypeF32, step: int(in.Mod(sass.MmaStep)), satFinite: in.Mod(sass.Sat) != 0}
	if in.Mod(sass.DstType) != in.Mod(sass.SrcType) { // C in f16 lies in other lanes than D in f32
		return unsupported(o)
	}
	o.run = h.run
	return p.resolve(o, layoutABC, rawValue)
}

func (h *hmma) run(w *warp, o *op) error {
	var pairs [4]tile
	for lane := range 32 {
		h.gather(w, o, lane, &pairs[lane>>2&3])
	}
	c0, c1 := w.rawPair(&o.c)
	// Every lane's C is read before D is written, which may be the same registers.
	d0, d1 := w.out(o, 0), w.out(o, 1)
	for lane := range d0 {
		d0[lane], d1[lane] = h.elements(lane, &pairs[lane>>2&3], c0[lane], c1[lane])
	}
	w.done(o, 2)
	return nil
}

// A tile holds the factors of a quad pair.
type tile struct {
	a [8][4]float64
	b [4][8]float64
}

// gather puts the four elements of A and of B that a lane holds into its quad pair's tile.
func (h *hmma) gather(w *warp, o *op, lane int, t *tile) {
	a, b := h.factor(w, &o.a, lane, h.negA), h.factor(w, &o.b, lane, h.negB)
	four, n := lane>>4*4, lane&3
	for i := range 4 {
		if h.colA {
			t.a[i+four][n] = a[i]
		} else {
			t.a[n+four][i] = a[i]
		}
		if h.colB {
			t.b[i][n+four] = b[i]
		} else {
			t.b[n][i+four] = b[i]
		}
	}
}

// factor returns the four f16 that a pair of registers holds in a lane.
func (h *hmma) factor(w *warp, s *source, lane int, neg bool) (x [4]float64) {
	low, high := w.rawPair(s)
	for i, r := range [...]uint32{low[lane], low[lane] >> 16, high[lane], high[lane] >> 16} {
		if x[i] = f16ToF64(uint16(r)); neg {
			x[i] = -x[i]
		}
	}
	return x
}

// elements returns the two registers of D that a lane gets in the step.
func (h *hmma) elements(lane int, t *tile, c0, c1 uint32) (d0, d1 uint32) {
	if !h.f32 {
		row, col := lane&3+lane>>4*4, 4*h.step
		return h.halves(t, row, col, c0), h.halves(t, row, col+2, c1)
	}
	row := lane&1 + h.step<<1&2 + lane>>4*4
	col := h.step<<1&4 + lane&2
	return h.single(t, row, col, c0), h.single(t, row, col+1, c1)
}

func (h *hmma) single(t *tile, row, col int, c uint32) uint32 {
	d := roundF32(t.dot(row, col, float64(math.Float32frombits(c))), roundRN)
	if h.satFinite && d&^signF32 == infF32 {
		d--
	}
	return d
}

// halves computes two neighbours of a row.
func (h *hmma) halves(t *tile, row, col int, c uint32) uint32 {
	var d [2]uint16
	for i := range d {
		d[i] = f16FromF64(t.dot(row, col+i, f16ToF64(uint16(c>>(16*i)))), roundRN)
		if h.satFinite && d[i]&^signF16 == infF16 {
			d[i]--
		}
	}
	return packHalves(d[0], d[1])
}

// dot returns c plus the product of a row of A and a column of B.
func (t *tile) dot(row, col int, c float64) float64 {
	for k := range 4 {
		c += float64(t.a[row][k] * t.b[k][col])
	}
	return c
}
