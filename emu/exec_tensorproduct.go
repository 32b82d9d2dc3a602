package emu

import (
	"encoding/binary"
	"fmt"
	"math"

	"gpa/cubin/sass"
)

// tensorProductCompilers are products of matrices that one thread issues for its block, or for the two blocks of a pair, and whose sums are
// in tensor memory (PTX ISA, tcgen05.mma).
var tensorProductCompilers = map[sass.Op]compiler{
	sass.UTCHMMA: compileTensorProduct,
	sass.UTCQMMA: compileTensorProduct,
	sass.UTCIMMA: compileTensorProduct,
	sass.UTCOMMA: compileTensorProduct,
}

// A tensorProduct is UTCHMMA and the like made ready. The op's a is A's place in tensor memory, or its descriptor in shared memory; b the
// descriptor of B, c the place of D, u the descriptor of the product, n the number of the two uniform registers
// that say where the scales of A and B are; its predicate says that D is added to.
type tensorProduct struct {
	inTensor bool // A is in tensor memory
	perRow   int  // scales that a row of A has, and a column of B; 0 without scales
}

func compileTensorProduct(p *program, o *op) (err error) {
	in := o.inst
	x := &tensorProduct{inTensor: in.Operands[0].Kind == sass.KindTMem}
	const mask, scale = 5, 7
	if in.Operands[mask].Kind == sass.KindTMem {
		x.perRow = scalesARow(in)
		scales := &in.Operands[mask]
		if _, err = p.uniformSource(scales, scales.Width); err != nil {
			return err
		}
		o.n = uint32(scales.Reg)
	} else if in.Operands[mask].Reg != sass.URZ || in.Operands[scale].Imm != 0 || in.Mod(sass.WeightStationary) != 0 || in.Mod(sass.RowShift) != 0 {
		return unsupported(o)
	}
	for _, read := range []struct {
		operand int
		to      *source
	}{{0, &o.a}, {1, &o.b}, {2, &o.c}, {4, &o.u}} {
		from := &in.Operands[read.operand]
		if *read.to, err = p.uniformSource(from, from.Width); err != nil {
			return err
		}
	}
	o.pp, o.run = predicateOf(&in.Operands[6]), x.run
	return nil
}

// A productDescriptor is the instruction descriptor of a product without scales (PTX ISA, tcgen05: instruction descriptor).
type productDescriptor uint32

func (d productDescriptor) field(at, n int) int { return int(d) >> at & (1<<n - 1) }
func (d productDescriptor) sparse() bool        { return d.field(2, 1) != 0 }
func (d productDescriptor) saturates() bool     { return d.field(3, 1) != 0 }
func (d productDescriptor) result() int         { return d.field(4, 2) }
func (d productDescriptor) types() (a, b int)   { return d.field(7, 3), d.field(10, 3) }
func (d productDescriptor) negates() bool       { return d.field(13, 1) != d.field(14, 1) }
func (d productDescriptor) transposesA() bool   { return d.field(15, 1) != 0 }
func (d productDescriptor) transposesB() bool   { return d.field(16, 1) != 0 }
func (d productDescriptor) columns() int        { return d.field(17, 6) << 3 }
func (d productDescriptor) rows() int           { return d.field(24, 5) << 4 }

// The types of D in a descriptor.
const (
	sumsF16 = 0
	sumsF32 = 1
	sumsS32 = 2
)

// productTypes are the types of A and B by their codes in the descriptor.
var productTypes = map[sass.Op][]uint16{
	sass.UTCHMMA: {sass.TypeF16, sass.TypeBF16, sass.TypeTF32},
	sass.UTCQMMA: {0: sass.TypeE4M3, 1: sass.TypeE5M2, 3: sass.TypeE2M3, 4: sass.TypeE3M2, 5: sass.TypeE2M1},
	sass.UTCIMMA: {sass.TypeU8, sass.TypeS8},
}

// product returns how a block's rows are multiplied, columns of them all; ok is false for types that there are not.
func (d productDescriptor) product(op sass.Op) (g *groupProduct, ok bool) {
	types := productTypes[op]
	a, b := d.types()
	if a >= len(types) || b >= len(types) {
		return nil, false
	}
	g = &groupProduct{columns: d.columns(), negate: d.negates(), transA: d.transposesA(), transB: d.transposesB(), elementBytes: 1}
	g.registers = g.columns / 2
	if op == sass.UTCIMMA {
		g.multiply, g.sat = byteProduct(types[a] == sass.TypeS8, types[b] == sass.TypeS8), d.saturates()
		return g, d.result() == sumsS32 && !g.transA && !g.transB && !g.negate
	}
	g.sum = fusedSum{align: 25, keep: 23, half: d.result() == sumsF16}
	if g.sum.half {
		g.registers /= 2
	}
	g.a, g.format = productFactor(types[a])
	g.b, g.formatB = productFactor(types[b])
	g.elementBytes = max(1, int(g.a.bits)/8)
	ok = d.result() <= sumsF32 && g.a.bits == g.b.bits && g.a.bits != 0 && !d.saturates()
	return g, ok
}

// productFactor returns a type of elements. Those of 6 and 4 bits count as bytes, which is what [unpack] makes of them.
func productFactor(typ uint16) (factor, numberFormat) {
	if n, ok := narrowTypes[typ]; ok {
		return ofBytes(n.format.frac+1, func(v uint64) float64 { return n.value(byte(v)) }), n.format
	}
	return mmaFactors[typ], groupFormats[typ]
}

// A narrowType is a number of less than 8 bits without infinities and NaNs (OCP Microscaling Formats, section 5.3).
type narrowType struct {
	bits   int
	format numberFormat
}

var narrowTypes = map[uint16]narrowType{
	sass.TypeE2M3: {6, numberFormat{3, 0}}, sass.TypeE3M2: {6, numberFormat{2, -2}}, sass.TypeE2M1: {4, numberFormat{1, 0}},
}

// value is the number of a code.
func (n narrowType) value(code byte) float64 {
	sign := 1.0
	if code>>(n.bits-1)&1 != 0 {
		sign = -1
	}
	code &= 1<<(n.bits-1) - 1
	frac, exp := int(code)&(1<<n.format.frac-1), int(code)>>n.format.frac
	if exp != 0 {
		frac |= 1 << n.format.frac
		exp--
	}
	return sign * math.Ldexp(float64(frac), exp+int(n.format.exp)-n.format.frac)
}

// unpack makes bytes of elements of less than 8 bits, of which 16 are in the first bytes of each 16 (PTX ISA, tcgen05: packing formats of
// elements in shared memory).
func unpack(rows []groupRow, typ uint16) {
	n := narrowTypes[typ]
	for i := range rows {
		for at := 0; at < groupRowBytes; at += matrixUnit {
			var packed [matrixUnit + 8]byte
			copy(packed[:], rows[i][at:at+matrixUnit])
			for k := range matrixUnit {
				bit := k * n.bits
				rows[i][at+k] = byte(binary.LittleEndian.Uint16(packed[bit/8:])>>(bit%8)) & (1<<n.bits - 1)
			}
		}
	}
}

// tensorWork is what the last product or copy of tensor memory asks of the SM: columns that are multiplied, and bytes that are read from
// its shared memory.
type tensorWork struct {
	columns, bytes int
	inTensor       bool // A is in tensor memory
}

// A productShape is what a product has to do: rows of A and D and columns of all blocks, and the codes of the types of A and B.
type productShape struct {
	rows, columns int
	typeA, typeB  int
	packed        bool // elements of less than 8 bits stand side by side, in all bytes
}

func (x *tensorProduct) run(w *warp, o *op) error {
	w.tensor = tensorWork{}
	if w.mask == 0 {
		return nil
	}
	if x.perRow != 0 {
		return x.runScaled(w, o)
	}
	d := productDescriptor(w.word(&o.u, 0)[0])
	g, ok := d.product(o.inst.Op)
	p := productShape{rows: d.rows(), columns: d.columns()}
	p.typeA, p.typeB = d.types()
	if !ok || d.sparse() {
		return x.unknown(w, o, uint32(d), p)
	}
	return x.multiply(w, o, uint32(d), p, g)
}

// multiply does the products of the blocks.
func (x *tensorProduct) multiply(w *warp, o *op, descriptor uint32, p productShape, g *groupProduct) error {
	blocks, err := w.pairOf(o)
	if err != nil {
		return err
	}
	rows, columns := p.rows/len(blocks), p.columns/len(blocks)
	layout, known := layoutOf(rows, len(blocks), p.columns)
	types := productTypes[o.inst.Op]
	unpacks := func(code int) bool { return !p.packed && narrowTypes[types[code]].bits != 0 }
	if !known || columns == 0 || columns%8 != 0 || p.columns > 256 || x.inTensor && unpacks(p.typeA) {
		return x.unknown(w, o, descriptor, p)
	}
	var b []groupRow
	for _, from := range blocks {
		part := make([]groupRow, columns)
		m := &matrix{w.matrixDescriptor(&o.b, 0), from, g.transB, uint64(g.elementBytes)}
		if err := x.read(w, o, m, part); err != nil {
			return err
		}
		b = append(b, part...)
	}
	if unpacks(p.typeB) {
		unpack(b, types[p.typeB])
	}
	for _, to := range blocks {
		if g.scaled != nil {
			if err := g.scaled(to, rows); err != nil {
				return err
			}
		}
		a := make([]groupRow, rows)
		if err := x.rowsOfA(w, o, to, a, layout, g); err != nil {
			return err
		}
		if unpacks(p.typeA) {
			unpack(a, types[p.typeA])
		}
		if err := g.accumulate(w, o, to, layout, a, b); err != nil {
			return err
		}
	}
	w.tensor = tensorWork{columns: p.columns, bytes: columns * groupRowBytes, inTensor: x.inTensor}
	if layout.split != 0 { // all lanes work for 64 rows; where 16 of 32 do, a product takes as long as one of 128 rows
		w.tensor.columns /= 2
	}
	if !x.inTensor {
		w.tensor.bytes += rows * groupRowBytes
	}
	return nil
}

// pairOf returns the blocks that an instruction is for: the warp's, or the two of its pair.
func (w *warp) pairOf(o *op) ([]*block, error) {
	if o.inst.Mod(sass.BlockPair) == 0 {
		return []*block{w.block}, nil
	}
	all, first := w.block.group(), w.block.rank&^1
	if first+2 > len(all) {
		return nil, w.fault(o, w.first(), Unsupported, fmt.Sprintf("%s in a cluster of %d blocks", o.inst.Mnemonic(), len(all)))
	}
	return all[first : first+2], nil
}

// read reads a matrix, which can be transposed where its elements have 16 or 8 bits.
func (x *tensorProduct) read(w *warp, o *op, m *matrix, rows []groupRow) error {
	const oddLayout = 1 << 61 // of which that with atoms of 32 bytes is one
	if m.transposed && m.size > 2 || m.matrixDescriptor&oddLayout != 0 {
		return w.fault(o, w.first(), Unsupported, fmt.Sprintf("%s of a matrix of %d-byte elements with the descriptor %#016x is not supported", o.inst.Mnemonic(), m.size, uint64(m.matrixDescriptor)))
	}
	return m.read(w, o, rows, 0, groupRowBytes)
}

// rowsOfA reads A from shared memory, or from the lanes that its rows have of tensor memory.
func (x *tensorProduct) rowsOfA(w *warp, o *op, b *block, a []groupRow, layout *sumLayout, g *groupProduct) error {
	if !x.inTensor {
		return x.read(w, o, &matrix{w.matrixDescriptor(&o.a, 0), b, g.transA, uint64(g.elementBytes)}, a)
	}
	at := tensorPlace(w.raw(&o.a)[0])
	m, err := b.window(w, o, at, layout.lanes, groupRowBytes/4)
	if err != nil {
		return err
	}
	for row := range a {
		for k := range groupRowBytes / 4 {
			binary.LittleEndian.PutUint32(a[row][4*k:], m.cells[at.lane()+layout.lane(row)][at.column()+k])
		}
	}
	return nil
}

// A sumLayout says in which lanes of tensor memory the rows of D lie (PTX ISA, tcgen05: data path layouts). Where split is not 0 the columns
// from there on are in the lanes 64 behind.
type sumLayout struct {
	lanes, columns int // that it takes
	quarters       bool
	split          int
}

// layoutOf returns the layout of a block's rows; known is false for numbers of rows that there are not.
func layoutOf(rows, blocks, columns int) (l *sumLayout, known bool) {
	switch {
	case rows == 128: // layouts A and D
		return &sumLayout{lanes: tensorLanes, columns: columns}, true
	case rows == 64 && blocks == 2: // layout B
		return &sumLayout{lanes: tensorLanes, columns: columns / 2, split: columns / 2}, true
	case rows == 64: // layout F: the first or the last 16 lanes of each 32
		return &sumLayout{lanes: tensorLanes - 16, columns: columns, quarters: true}, true
	}
	return nil, false
}

// lane returns the lane of a row, from the first one on.
func (l *sumLayout) lane(row int) int {
	if l.quarters {
		return row>>4<<5 + row&15
	}
	return row
}

// cell returns the lane and the column of an element of D, from the first ones on.
func (l *sumLayout) cell(row, column int) (lane, at int) {
	if l.split != 0 && column >= l.split {
		return l.lane(row) + 64, column - l.split
	}
	return l.lane(row), column
}

// accumulate adds the products of a block's rows of A to D. It does so for 16 rows at a time as a warp has them of a product of a
// warpgroup, see [groupProduct]; sums in half precision take the lower half of a cell each.
func (g *groupProduct) accumulate(w *warp, o *op, b *block, layout *sumLayout, a, columns []groupRow) error {
	at := tensorPlace(w.raw(&o.c)[0])
	m, err := b.window(w, o, at, layout.lanes, layout.columns)
	if err != nil {
		return err
	}
	adds := w.get(o.pp) != 0
	var none lanes
	var elements *elements
	if g.multiply == nil && g.elementBytes != 0 {
		elements = g.columnElements(columns)
	}
	scales := g.rowScales
	for first := 0; first < len(a); first += groupRows {
		var d [128]lanes
		each := func(do func(cell, word *uint32, shift int)) {
			for row := range groupRows {
				for column := range g.columns {
					lane, c := layout.cell(first+row, column)
					register, thread := column>>3<<2+row>>3<<1+column&1, row&7<<2+column>>1&3
					shift := 0
					if g.sum.half {
						register, shift = register/2, register&1*16
					}
					do(&m.cells[at.lane()+lane][at.column()+c], &d[register][thread], shift)
				}
			}
		}
		if adds && g.sum.half {
			each(func(cell, word *uint32, shift int) { *word |= *cell & 0xffff << shift })
		} else if adds {
			each(func(cell, word *uint32, _ int) { *word = *cell })
		}
		rows := a[first : first+groupRows]
		if scales != nil {
			g.rowScales = scales[first : first+groupRows]
		}
		switch {
		case elements == nil && g.multiply == nil:
			g.fours(&d, g.rowScales, rows, columns)
		case g.multiply != nil:
			g.integers(&d, &none, rows, columns)
		case elements.special || !g.finiteRows(&d, rows, elements):
			g.terms(&d, &none, rows, columns)
		}
		if g.sum.half {
			each(func(cell, word *uint32, shift int) { *cell = *word >> shift & 0xffff })
		} else {
			each(func(cell, word *uint32, _ int) { *cell = *word })
		}
	}
	return nil
}
