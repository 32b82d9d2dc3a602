package emu

// A sparsity says which elements of a column of B the elements of a row of A meet in a sparse product: A has two of four elements, or one
// of two where they have 32 bits, and a register of metadata tells which (PTX ISA, mma.sp: sparse matrix storage). An index of two
// bits is the place of 16 bits of A among 64, or of 8 bits among 32. Which lane of the four with the same rows holds the index of a
// row depends on the selector. With e counting the indexes of a row:
//
//	indexes of 16 bits: rows g and g+8 share a register, 8 indexes each, that of lane selector, or where a row has 16 indexes
//	of lane 2 selector + e div 8
//	indexes of 8 bits: a register has 16 of one row; row g+8r is in lane 2 selector + r, or where a row has 32 in r + 2 (e div 16)
//
// The lanes of the larger shapes are those of the metadata layouts of CUTLASS (SM90::GMMA::ELayout).
type sparsity struct {
	bits     int // of an element of A
	indexes  int // of a row
	small    bool
	selector int
}

// newSparsity returns that of a row of so many elements of A in registers; nil for a selector that there is not.
func newSparsity(bits, elements, selector int) *sparsity {
	s := &sparsity{bits: bits, small: bits < 16, selector: selector, indexes: elements * bits / 16}
	groups := 32 / s.indexes // of lanes that have all of a row's
	if s.small {
		s.indexes = elements * bits / 8
		groups = 32 / s.indexes
	}
	if selector >= groups {
		return nil
	}
	return s
}

// index returns the e-th index of a row.
func (s *sparsity) index(metadata *lanes, row, e int) int {
	lane, at := s.selector, e%8+row/8*8
	switch {
	case s.small && s.indexes > 16:
		lane, at = row/8+2*(e/16), e%16
	case s.small:
		lane, at = row/8+2*s.selector, e
	case s.indexes > 8:
		lane = 2*s.selector + e/8
	}
	return int(metadata[row%8*4+lane] >> (2 * at) & 3)
}

// place returns where in a column of B the element is that meets the k-th one of a row.
func (s *sparsity) place(metadata *lanes, row, k int) int {
	switch s.bits {
	case 32:
		return 2*k + s.index(metadata, row, 2*k)/2
	case 4: // pairs of them are together
		return 2*(k/4*4+s.index(metadata, row, k/2)) + k%2
	}
	return k/2*4 + s.index(metadata, row, k)
}

// runSparse is run for a sparse A.
func (m *mma) runSparse(w *warp, o *op) error {
	var t product
	var b [8][2 * maxDepth]float64
	m.a.rows(w, &o.a, m.tall, m.depth, t.a[:])
	m.b.gather(w, &o.b, 1, 2*m.depth, func(lane, _, k int, v float64) { b[lane>>2][k] = v })
	var c [8]lanes
	w.addend(o, c[:m.registers()])
	metadata := *w.word(&o.u, 0)
	var column [maxDepth]float64
	for lane := range 32 {
		for i := range 2 * m.tall {
			row := lane>>2 + 8*(i/2)
			for k := range m.depth {
				column[k] = b[2*(lane&3)+i&1][m.sparse.place(&metadata, row, k)]
			}
			m.element(w, o, &t.a[row], &column, &c, lane, i)
		}
	}
	w.done(o, m.registers())
	return nil
}
