package emu

import (
	"fmt"
	"math"

	"gpa/cubin/sass"
)

// A scaledDescriptor is the instruction descriptor of a product whose blocks of elements have scales (PTX ISA, tcgen05: instruction descriptor
// for .kind::mxf8f6f4, .kind::mxf4 and .kind::mxf4nvf4). Types, signs, transposition and columns stand where they do without scales.
type scaledDescriptor struct{ productDescriptor }

func (d scaledDescriptor) rows() int            { return d.field(27, 2) << 7 }
func (d scaledDescriptor) first() (a, b int)    { return d.field(29, 2), d.field(4, 2) } // which of the four scales of a cell is the first
func (d scaledDescriptor) exponents() bool      { return d.field(23, 1) != 0 }           // scales are ue8m0, otherwise ue4m3
func (d scaledDescriptor) deep() bool           { return d.field(31, 1) != 0 }           // of 96 elements
func (d scaledDescriptor) elements4() (ok bool) { a, b := d.types(); return a == 1 && b&3 == 1 }

// product returns how a block's rows are multiplied; ok is false for what there is not.
func (d scaledDescriptor) product(op sass.Op) (g *groupProduct, ok bool) {
	if d.sparse() || d.deep() {
		return nil, false
	}
	if op == sass.UTCOMMA {
		g = &groupProduct{columns: d.columns(), registers: d.columns() / 2, negate: d.negates(), sum: fusedSum{align: 35, keep: 23}}
		return g, d.elements4() && !d.transposesA() && !d.transposesB()
	}
	const others = 1<<3 | 3<<4 | 1<<23 // what the bits of saturation and of the type of D are here is no part of the product
	g, ok = (d.productDescriptor&^others | sumsF32<<4).product(op)
	return g, ok && d.exponents()
}

// A blockScale is the factor of a block of elements: its significand times 2^(exp-frac).
type blockScale struct {
	term
	frac int
}

// blockScaleOf returns a scale of a type (OCP Microscaling Formats, section 5.4.1, for ue8m0; ue4m3 is e4m3 without its sign).
func blockScaleOf(code byte, exponents bool) blockScale {
	switch {
	case exponents && code == 0xff:
		return blockScale{term: term{special: specialNaN}}
	case exponents:
		return blockScale{term: term{significand: 1, exp: int32(code) - 127}}
	}
	f := groupFormats[sass.TypeE4M3]
	return blockScale{f.termOf(formatE4M3.value(code & 0x7f)), f.frac}
}

// scalesARow is how many scales a row of A, and a column of B, has in one product.
func scalesARow(in *sass.Inst) int {
	switch {
	case in.Op != sass.OMMA && in.Op != sass.UTCOMMA:
		return 1
	case in.Mod(sass.ScaleBlock) == 0:
		return 4
	}
	return 2
}

// blockScales are those of the rows of A or the columns of B, some for each.
type blockScales [][]blockScale

// scalesOf reads n scales for each of some rows or columns from tensor memory: the four of a cell are for elements that follow each other, 32
// lanes have 32 rows, and the next column the next 32 (PTX ISA, tcgen05: scale factor layouts). Each 32 lanes hold the same; the first count.
func (x *tensorProduct) scalesOf(w *warp, o *op, b *block, at tensorPlace, first, n, rows int, exponents bool) (blockScales, error) {
	const lanes = 32
	m, err := b.window(w, o, at, lanes, (rows+lanes-1)/lanes)
	if err != nil {
		return nil, err
	}
	list := make(blockScales, rows)
	for i := range list {
		list[i] = scalesIn(m.cells[at.lane()+i%lanes][at.column()+i/lanes], first, n, exponents)
	}
	return list, nil
}

// scalesIn takes n of the four scales of 32 bits, from the first one on.
func scalesIn(four uint32, first, n int, exponents bool) (list []blockScale) {
	for k := range n {
		list = append(list, blockScaleOf(byte(four>>(8*((first+k)&3))), exponents))
	}
	return list
}

// runScaled is run for a product with scales.
func (x *tensorProduct) runScaled(w *warp, o *op) error {
	d := scaledDescriptor{productDescriptor(w.word(&o.u, 0)[0])}
	g, ok := d.product(o.inst.Op)
	p := productShape{rows: d.rows(), columns: d.columns(), packed: o.inst.Op == sass.UTCOMMA}
	p.typeA, p.typeB = d.types()
	if !ok || o.inst.Mod(sass.BlockPair) != 0 && p.rows != 256 {
		return x.unknown(w, o, uint32(d.productDescriptor), p)
	}
	place := func(n int) tensorPlace { return tensorPlace(w.uniformRegister(int(o.n) + n)[0]) }
	firstA, firstB := d.first()
	g.scaled = func(to *block, rows int) (err error) {
		if g.rowScales, err = x.scalesOf(w, o, to, place(0), firstA, x.perRow, rows, d.exponents()); err != nil {
			return err
		}
		g.columnScales, err = x.scalesOf(w, o, to, place(1), firstB, x.perRow, p.columns, d.exponents())
		return err
	}
	return x.multiply(w, o, uint32(d.productDescriptor), p, g)
}

// of is the first scale of a row, nil where there are none.
func (s blockScales) of(row int) *blockScale {
	if s == nil {
		return nil
	}
	return &s[row][0]
}

// scale multiplies terms, so many of each row, with the row's scale, which is a power of two.
func (s blockScales) scale(terms []term, depth int) {
	for row := range s {
		by := &s[row][0]
		for k := range depth {
			t := &terms[row*depth+k]
			t.exp += by.exp
			t.special |= by.special
		}
	}
}

// e2m1Halves are the numbers of 4 bits, in halves.
var e2m1Halves = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

const (
	fourDepth = 2 * groupRowBytes // elements of 4 bits of a row
	fourBlock = 16                // of them that are summed up exactly
)

// fours adds products of elements of 4 bits with scales: those of 16 are summed up exactly and multiplied with the significands of their scales;
// what comes out counts with the scales' exponents (MMA-Sim, arXiv 2511.10909).
func (g *groupProduct) fours(d *[128]lanes, rowScales blockScales, a, b []groupRow) {
	rows, columns := foursOf(a), foursOf(b)
	var terms [fourDepth / fourBlock]term
	for i := range g.registers {
		for lane := range 32 {
			row, column := groupElement(lane, i)
			x, y := rows[row*fourDepth:][:fourDepth], columns[column*fourDepth:][:fourDepth]
			frac := 2 // of products of halves
			for q := range terms {
				sum := int64(0)
				for k := q * fourBlock; k < (q+1)*fourBlock; k++ {
					sum += int64(x[k]) * int64(y[k])
				}
				if g.negate {
					sum = -sum
				}
				r, c := &rowScales[row], &g.columnScales[column]
				sa, sb := &(*r)[q*len(*r)/len(terms)], &(*c)[q*len(*c)/len(terms)]
				terms[q] = term{significand: sum}.times(sa.times(sb.term))
				frac = 2 + sa.frac + sb.frac
			}
			c := single.termOf(float64(math.Float32frombits(d[i][lane])))
			d[i][lane] = g.sum.add(terms[:], frac, c, single.frac)
		}
	}
}

// foursOf takes the elements of rows apart.
func foursOf(rows []groupRow) []int8 {
	list := make([]int8, 0, len(rows)*fourDepth)
	for i := range rows {
		for _, two := range rows[i][:groupRowBytes] {
			list = append(list, e2m1Halves[two&15], e2m1Halves[two>>4])
		}
	}
	return list
}

// unknown is the fault of a product that is not supported.
func (x *tensorProduct) unknown(w *warp, o *op, descriptor uint32, p productShape) error {
	return w.fault(o, w.first(), Unsupported, fmt.Sprintf("%s with the descriptor %#08x, of %d rows and %d columns, is not supported", o.inst.Mnemonic(), descriptor, p.rows, p.columns))
}
