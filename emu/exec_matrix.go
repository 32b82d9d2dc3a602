package emu

import (
	"encoding/binary"
	"math/bits"

	"gpa/cubin/sass"
)

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

// matrixCompilers move matrices of 8 rows of 8 halves between shared memory and registers (PTX ISA, ldmatrix and stmatrix).
var matrixCompilers = map[sass.Op]compiler{
	sass.LDSM: compileMatrixMove,
	sass.STSM: compileMatrixMove,
}

// A matrixMove is LDSM or STSM of one, two or four matrices. Lane 8k+i has the address of row i of matrix k; register k in lane
// 4g+t is columns 2t and 2t+1 of row g or, transposed, rows 2t and 2t+1 of column g.
type matrixMove struct {
	matrices   int
	transposed bool
	store      bool
}

func compileMatrixMove(p *program, o *op) (err error) {
	in := o.inst
	at := findOperand(in, sass.KindMem)
	m := &matrixMove{matrices: int(sizes[in.Mod(sass.Size)].bytes) / 4, store: in.Op == sass.STSM}
	switch in.Mod(sass.Matrix) {
	case sass.MatrixM88:
	case sass.MatrixMT88:
		m.transposed = true
	default:
		return unsupported(o)
	}
	o.space, o.mode, o.run = spaceShared, sass.Size128, m.run
	if err = p.memoryOperand(o, at); err != nil {
		return err
	}
	if m.store {
		o.b, err = p.source(&in.Operands[at+1], rawValue)
	} else {
		o.dst = p.dest(&in.Operands[at-1])
	}
	return err
}

// run moves all matrices. The access is that of the lanes that have the addresses of rows, 16 bytes each.
func (m *matrixMove) run(w *warp, o *op) error {
	kind := accessLoad
	if m.store {
		kind = accessStore
	}
	w.access(o, kind)
	if w.mask == 0 {
		return nil
	}
	w.acc.mask = uint32(1<<(8*m.matrices) - 1)
	var rows [32][]byte
	for lane := range 8 * m.matrices {
		row, err := w.shared(o, lane, w.acc.addr[lane], 16)
		if err != nil {
			return err
		}
		rows[lane] = row
	}
	for k := range m.matrices {
		for left := w.mask; left != 0; left &= left - 1 {
			lane := bits.TrailingZeros32(left)
			low, high := m.place(rows[8*k:8*k+8], lane)
			if m.store {
				v := w.word(&o.b, k)[lane]
				binary.LittleEndian.PutUint16(low, uint16(v))
				binary.LittleEndian.PutUint16(high, uint16(v>>16))
			} else {
				w.row(o, k)[lane] = packHalves(binary.LittleEndian.Uint16(low), binary.LittleEndian.Uint16(high))
			}
		}
	}
	return nil
}

// place returns where the two halves of a lane lie.
func (m *matrixMove) place(rows [][]byte, lane int) (low, high []byte) {
	g, t := lane>>2, lane&3
	if m.transposed {
		return rows[2*t][2*g:], rows[2*t+1][2*g:]
	}
	return rows[g][4*t:], rows[g][4*t+2:]
}
