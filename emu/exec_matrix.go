package emu

import (
	"math"

	"gpa/cubin/sass"
)

// A warpProduct is an HMMA of Turing and later: the warp computes D = A×B + C of a 16×K matrix A, a K×8 matrix B and 16×8
// matrices C and D. Lane 4g+t holds rows g and g+8 of A, column g of B and columns 2t and 2t+1 of rows g and g+8 of C and D,
// as the PTX ISA says of mma.m16n8k8 and mma.m16n8k16. As with Volta's (see hmma) an element is summed up in f64, where the
// products are exact, and rounded once.
type warpProduct struct {
	k     int // 8 or 16
	f32   bool
	widen func(uint16) float64 // of the factors
}

func compileWarpProduct(p *program, o *op) error {
	in := o.inst
	m := warpProduct{k: 8, f32: in.Mod(sass.DstType) == sass.TypeF32, widen: f16ToF64}
	if in.Mod(sass.MmaShape) == sass.Mma16816 {
		m.k = 16
	}
	if in.Mod(sass.SrcType) == sass.TypeBF16 {
		m.widen = bf16ToF64
	}
	o.run = m.run
	if err := p.resolve(o, layoutABC, rawValue); err != nil {
		return err
	}
	if o.dst != sinkRegister {
		p.use(int(o.dst) + m.results())
	}
	return nil
}

// results is the number of registers of C and D.
func (m *warpProduct) results() int {
	if m.f32 {
		return 4
	}
	return 2
}

func (m *warpProduct) run(w *warp, o *op) error {
	var a [16][16]float64
	var b [16][8]float64
	m.gather(w, o, &a, &b)
	var c [4]lanes // read before D is written, which may be the same registers
	for k := range m.results() {
		c[k] = *w.word(&o.c, k)
	}
	for k := range m.results() {
		d := w.out(o, k)
		for lane := range d {
			d[lane] = m.result(&a, &b, lane, k, c[k][lane])
		}
	}
	w.done(o, m.results())
	return nil
}

// gather takes the factors out of the registers: register 2i+h of A holds columns 8i+2t and 8i+2t+1 of row g+8h, register i of
// B rows 8i+2t and 8i+2t+1.
func (m *warpProduct) gather(w *warp, o *op, a *[16][16]float64, b *[16][8]float64) {
	for i := range m.k / 8 {
		low, high, factor := w.word(&o.a, 2*i), w.word(&o.a, 2*i+1), w.word(&o.b, i)
		for lane := range 32 {
			g, at := lane>>2, 8*i+2*(lane&3)
			for h := range 2 {
				a[g][at+h] = m.widen(uint16(low[lane] >> (16 * h)))
				a[g+8][at+h] = m.widen(uint16(high[lane] >> (16 * h)))
				b[at+h][g] = m.widen(uint16(factor[lane] >> (16 * h)))
			}
		}
	}
}

// result returns register k of D in a lane.
func (m *warpProduct) result(a *[16][16]float64, b *[16][8]float64, lane, k int, c uint32) uint32 {
	row, column := lane>>2, 2*(lane&3)
	if m.f32 {
		row, column = row+8*(k/2), column+k%2
		return roundF32(m.dot(a, b, row, column, float64(math.Float32frombits(c))), roundRN)
	}
	row += 8 * k
	low, high := halves(c)
	return packHalves(f16FromF64(m.dot(a, b, row, column, f16ToF64(low)), roundRN), f16FromF64(m.dot(a, b, row, column+1, f16ToF64(high)), roundRN))
}

func (m *warpProduct) dot(a *[16][16]float64, b *[16][8]float64, row, column int, sum float64) float64 {
	for k := range m.k {
		sum += float64(a[row][k] * b[k][column])
	}
	return sum
}

// compileMOVM transposes an 8×8 matrix of 16 bits (PTX ISA, movmatrix): lane 4g+t holds columns 2t and 2t+1 of row g.
func compileMOVM(p *program, o *op) error {
	o.run = movm
	return p.resolve(o, layout{0, none, none, 1, none, none, none, none}, rawValue)
}

func movm(w *warp, o *op) error {
	a, d := *w.raw(&o.a), w.out(o, 0)
	element := func(row, column int) uint16 { return uint16(a[4*row+column/2] >> (16 * (column & 1))) }
	for lane := range d {
		g, t := lane>>2, lane&3
		d[lane] = packHalves(element(2*t, g), element(2*t+1, g))
	}
	w.done(o, 1)
	return nil
}
