package emu

import (
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// A matrixTest is LDSM or STSM of matrices of 8 rows of 8 halves (PTX ISA, ldmatrix and stmatrix): lanes 8k to 8k+7 name the
// rows of matrix k, whose columns 2t and 2t+1 of row g are in lane 4g+t, transposed rows 2t and 2t+1 of column g.
type matrixTest struct {
	*memoryTest
	rows     [32]place
	register int // of the first matrix
	count    int
}

// newMatrixTest fails where an instruction is refused or where not every row has a place of its own.
func newMatrixTest(t *testing.T, in sass.Inst, r *rand.Rand) (*matrixTest, bool) {
	at := findOperand(&in, sass.KindMem)
	if refused(in) || in.Operands[at].Reg == sass.RZ {
		return nil, false
	}
	x := &matrixTest{memoryTest: newMemoryTest(t, in, r)}
	x.w.active = allLanes
	var ok bool
	x.rows, ok = x.places(testAccess{at, spaceShared, false, 16})
	data := at - 1
	if in.Op == sass.STSM {
		data = at + 1
	}
	x.register = int(in.Operands[data].Reg)
	x.count = memorySizes[in.Mod(sass.Size)] / 4
	return x, ok && x.rows[0].addr != x.rows[4].addr
}

// elementBits are the bits that stand for an element, another for each.
func elementBits(matrix, row, column int) uint16 { return uint16(matrix<<8 | row<<4 | column) }

// lane is where an element is among registers: the lane and the lowest bit.
func (x *matrixTest) lane(row, column int) (lane, shift int) {
	if x.in.Mod(sass.Matrix) == sass.MatrixMT88 {
		row, column = column, row
	}
	return 4*row + column/2, 16 * (column % 2)
}

// each calls f for all elements with their bytes in memory and their halves of registers.
func (x *matrixTest) each(f func(want uint16, memory []byte, register *uint32, shift int)) {
	for k := range x.count {
		for row := range 8 {
			for column := range 8 {
				lane, shift := x.lane(row, column)
				f(elementBits(k, row, column), x.rows[8*k+row].bytes[2*column:], &x.w.regs[x.register+k][lane], shift)
			}
		}
	}
}

// compare moves matrices and compares where all their elements arrive.
func (x *matrixTest) compare(t *testing.T) {
	t.Helper()
	x.each(func(v uint16, memory []byte, register *uint32, shift int) {
		if x.in.Op == sass.LDSM {
			memory[0], memory[1] = byte(v), byte(v>>8)
		} else {
			*register = *register&^(0xffff<<shift) | uint32(v)<<shift
		}
	})
	if err := x.w.step(); err != nil {
		t.Fatalf("%s: %v", x.in.Text(), err)
	}
	x.each(func(want uint16, memory []byte, register *uint32, shift int) {
		got := uint16(*register >> shift)
		if x.in.Op == sass.STSM {
			got = uint16(memory[0]) | uint16(memory[1])<<8
		}
		if got != want {
			t.Fatalf("%s: %04x is where %04x should be", x.in.Text(), got, want)
		}
	})
}

func TestMatrixMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if f.Op != sass.LDSM && f.Op != sass.STSM {
			continue
		}
		done := 0
		samples(f, r, 200, func(in sass.Inst) bool {
			if x, ok := newMatrixTest(t, in, r); ok {
				x.compare(t)
				tested.Store(f, true)
				done++
			}
			return done < 10
		})
	}
}
