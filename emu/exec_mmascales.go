package emu

import (
	"encoding/binary"

	"gpa/cubin/sass"
)

// A scaledMMA is a multiply-accumulate of a warp whose blocks of elements have scales (PTX ISA, mma with .block_scale): A of 16 rows of 32 bytes, B
// of 8 columns of as many, which are 32 elements of up to 8 bits or 64 of 4 bits. The op's u is the register of selectors.
//
// Elements lie in registers as those of a warp of a warpgroup do, see [groupProduct], and B as A without rows 8 to 15. The selectors are those
// of A in their low bits and those of B behind, as ptxas puts them together of the byte-ids and thread-ids of PTX.
type scaledMMA struct {
	groupProduct
	scalesA, scalesB source
	perRow           int // scales that a row of A has, and a column of B
	exponents        bool
}

func compileScaledMMA(p *program, o *op) (err error) {
	in := o.inst
	const scalesA, scalesB, selectors = 5, 6, 7
	m := &scaledMMA{perRow: scalesARow(in), exponents: in.Mod(sass.ScaleType) == sass.TypeE8M0}
	a, b := in.Mod(sass.SrcType), in.Mod(sass.SrcType2)
	m.groupProduct = groupProduct{columns: 8, registers: 4, elementBytes: 1, a: mmaFactors[a], b: mmaFactors[b], format: formatOf(a), formatB: formatOf(b),
		sum: fusedSum{align: 25, keep: 23}, negate: in.Operands[1].Neg != in.Operands[2].Neg}
	if o.run = m.run; in.Op == sass.OMMA {
		m.sum.align = 35
	}
	if err = p.resolve(o, layoutABC, rawValue); err != nil {
		return err
	}
	if o.dst != sinkRegister {
		p.use(int(o.dst) + m.registers)
	}
	for _, read := range []struct {
		operand int
		to      *source
	}{{scalesA, &m.scalesA}, {scalesB, &m.scalesB}, {selectors, &o.u}} {
		if *read.to, err = p.source(&in.Operands[read.operand], rawValue); err != nil {
			return err
		}
	}
	o.pp = addendPredicate(in)
	return nil
}

// formatOf is how numbers of a type count in a sum.
func formatOf(typ uint16) numberFormat {
	if n, ok := narrowTypes[typ]; ok {
		return n.format
	}
	return groupFormats[typ]
}

func (m *scaledMMA) run(w *warp, o *op) error {
	var rows [groupRows + 8]groupRow
	a, b := rows[:groupRows], rows[groupRows:]
	bytesOf(w, &o.a, a, 4)
	bytesOf(w, &o.b, b, 2)
	var d [128]lanes
	w.addend(o, d[:m.registers])
	g := m.groupProduct // of this warp: it has scales
	g.rowScales, g.columnScales = m.scales(w, o)
	if o.inst.Op == sass.OMMA {
		g.fours(&d, g.rowScales, a, b)
	} else {
		g.numbers(&d, &zeroLanes, a, b)
	}
	for i := range m.registers {
		*w.out(o, i) = d[i]
	}
	w.done(o, m.registers)
	return nil
}

// bytesOf reads rows from registers, which hold 4 bytes a lane of 8 rows at a time.
func bytesOf(w *warp, s *source, rows []groupRow, registers int) {
	tall := len(rows) / 8
	for r := range registers {
		for lane, v := range w.word(s, r) {
			binary.LittleEndian.PutUint32(rows[lane>>2+8*(r%tall)][4*(lane&3)+16*(r/tall):], v)
		}
	}
}

// scales reads those of the rows and of the columns. Of the four lanes that have elements of a row, two neighbours have the scales of the row and of the
// one 8 behind; of those of a column one has its scales.
func (m *scaledMMA) scales(w *warp, o *op) (rows, columns blockScales) {
	s := int(w.word(&o.u, 0)[0])
	byteA, pairA, byteB, laneB := s&3, s>>2&1, s>>3&3, s>>5&3
	from := w.word(&m.scalesA, 0)
	for row := range groupRows {
		rows = append(rows, scalesIn(from[row&7<<2+2*pairA+row>>3], byteA, m.perRow, m.exponents))
	}
	from = w.word(&m.scalesB, 0)
	for column := range m.columns {
		columns = append(columns, scalesIn(from[column<<2+laneB], byteB, m.perRow, m.exponents))
	}
	return rows, columns
}
