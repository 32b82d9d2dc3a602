package emu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// A sparseCase is a shape of a sparse product: where the elements of A that there are, of B and of C lie (PTX ISA, mma.sp), and which lane
// of the four with a row's elements holds what is known of four units of the row of A, from which bit on. A unit has 16 bits, or 8 of
// smaller elements.
type sparseCase struct {
	mmaCase
	unit      int
	selectors int
	lanes     [2][]int // of the rows 0 to 7 and 8 to 15, by four units
	bits      [2][]int
}

const mmaMetadata = 40 // register of the metadata in these tests

// sparseShapes are the shapes by their elements' size and depth, without a lane that the selector chooses.
func sparseShape(size, depth, resultBits int) sparseCase {
	each := max(32/size, 1)
	half, all := tallMMA(each, depth/2/(4*each), size, resultBits), tallMMA(each, depth/(4*each), size, resultBits)
	half.b, half.depth = all.b, depth
	c := sparseCase{mmaCase: half, unit: 16, selectors: 4}
	switch {
	case size >= 16 && depth*size == 256:
		c.lanes, c.bits = [2][]int{{0, 0, 0, 0}, {0, 0, 0, 0}}, [2][]int{{0, 4, 8, 12}, {16, 20, 24, 28}}
	case size >= 16:
		c.selectors = 2
		c.lanes = [2][]int{{0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}}
		c.bits = [2][]int{{0, 4, 8, 12, 0, 4, 8, 12}, {16, 20, 24, 28, 16, 20, 24, 28}}
	case depth*size == 256:
		c.unit, c.selectors = 8, 2
		c.lanes = [2][]int{{0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1}}
		c.bits = [2][]int{{0, 4, 8, 12, 16, 20, 24, 28}, {0, 4, 8, 12, 16, 20, 24, 28}}
	default:
		c.unit, c.selectors = 8, 1
		row := []int{0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28}
		c.bits = [2][]int{row, row}
		c.lanes = [2][]int{{0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3}}
	}
	return c
}

// choose draws which two of each four units there are, writes that as metadata and returns the columns of each row of A, in order.
func (c *sparseCase) choose(metadata *lanes, r *rand.Rand, selector int) (columns [16][]int) {
	each := len(c.lanes[0]) // fours of a row
	stride := map[int]int{4: 1, 8: 2, 16: 4}[each]
	if c.unit == 8 {
		stride = 2
	}
	for lane := range 32 {
		metadata[lane] = r.Uint32() // what the selector does not choose does not count
	}
	for row := range 16 {
		for four := range each {
			pair := [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}[r.IntN(6)]
			if c.a.bits == 32 {
				pair = [][2]int{{0, 1}, {2, 3}}[r.IntN(2)]
			}
			lane := row%8*4 + c.lanes[row/8][four] + selector*stride
			at := c.bits[row/8][four]
			v := &metadata[lane]
			*v = *v&^(15<<at) | uint32(pair[0]|pair[1]<<2)<<at
			for _, unit := range pair {
				switch place := 4*four + unit; {
				case c.a.bits == 32 && unit%2 == 0:
					columns[row] = append(columns[row], place/2)
				case c.a.bits == 4:
					columns[row] = append(columns[row], 2*place, 2*place+1)
				case c.a.bits < 32 && c.a.bits != 4:
					columns[row] = append(columns[row], place)
				}
			}
		}
	}
	return columns
}

// Sparse products are those of the dense matrix that A stands for.
func TestSparseMMA(t *testing.T) {
	for _, c := range []struct {
		text        string
		size, depth int
		result      *floatFormat // nil for integers
		from        *floatFormat
		drop        uint
	}{
		{"HMMA.SP.16816.F16", 16, 16, &formatF16, &formatF16, 0}, {"HMMA.SP.16816.F32", 16, 16, &formatF32, &formatF16, 0},
		{"HMMA.SP.16832.F16", 16, 32, &formatF16, &formatF16, 0}, {"HMMA.SP.16832.F32", 16, 32, &formatF32, &formatF16, 0},
		{"HMMA.SP.16816.F32.BF16", 16, 16, &formatF32, &formatBF16, 0}, {"HMMA.SP.16832.F32.BF16", 16, 32, &formatF32, &formatBF16, 0},
		{"HMMA.SP.1688.F32.TF32", 32, 8, &formatF32, &formatF32, 13}, {"HMMA.SP.16816.F32.TF32", 32, 16, &formatF32, &formatF32, 13},
		{"IMMA.SP.16832.S8.U8", 8, 32, nil, nil, 0}, {"IMMA.SP.16864.S8.S8.SAT", 8, 64, nil, nil, 0},
		{"IMMA.SP.16864.S4.U4", 4, 64, nil, nil, 0}, {"IMMA.SP.168128.U4.S4", 4, 128, nil, nil, 0},
		{"QMMA.SP.16832.F16.E4M3.E5M2", 8, 32, &formatF16, nil, 0}, {"QMMA.SP.16832.F32.E5M2.E4M3", 8, 32, &formatF32, nil, 0},
		{"QMMA.SP.16864.F16.E5M2.E5M2", 8, 64, &formatF16, nil, 0}, {"QMMA.SP.16864.F32.E4M3.E4M3", 8, 64, &formatF32, nil, 0},
	} {
		resultBits := 32
		if c.result == &formatF16 {
			resultBits = 16
		}
		shape := sparseShape(c.size, c.depth, resultBits)
		for selector := range shape.selectors {
			operands := " R0, R8, R24, R32"
			if c.from == nil {
				operands = " R0, R8.ROW, R24.COL, R32"
			}
			text := fmt.Sprintf("%s%s, R%d, %#x", c.text, operands, mmaMetadata, selector)
			onProducts(t, text, func(t *testing.T, a sass.Arch, text string) {
				x := &sparseTest{shape: shape, text: text, result: c.result}
				x.values(c.text, c.from, c.drop)
				x.run(t, newTestWarp(t, a, text), selector)
			})
		}
	}
}

// A sparseTest holds how the elements of a sparse product are drawn and what they stand for.
type sparseTest struct {
	shape  sparseCase
	text   string
	result *floatFormat
	a, b   func(uint64) *big.Float
	random func(r *rand.Rand) uint64
}

func (x *sparseTest) values(text string, from *floatFormat, drop uint) {
	size := x.shape.a.bits
	x.random = func(r *rand.Rand) uint64 { return r.Uint64() & (1<<size - 1) }
	integer := func(sign string) func(uint64) *big.Float {
		of := integerValue(sign, size)
		return func(v uint64) *big.Float { return new(big.Float).SetPrec(exactPrec).SetInt64(of(v)) }
	}
	eight := func(name string) func(uint64) *big.Float {
		f := map[string]*floatFormat{"E4M3": {exp: 4, frac: 3}, "E5M2": {exp: 5, frac: 2}}[name]
		return func(v uint64) *big.Float { return valueOf(f, v) }
	}
	parts := strings.Split(text, ".")
	switch {
	case from != nil:
		x.random = func(r *rand.Rand) uint64 { return nearOne(r, from) }
		x.a = func(v uint64) *big.Float { return valueOf(from, v>>drop<<drop) }
		x.b = x.a
	case parts[0] == "QMMA":
		x.a, x.b = eight(parts[4]), eight(parts[5])
		x.random = func(r *rand.Rand) uint64 { return uint64(0x30+r.IntN(16)) | uint64(r.IntN(2))<<7 } // about 1 in both types
	default:
		x.a, x.b = integer(parts[3][:1]), integer(parts[4][:1])
	}
}

func (x *sparseTest) run(t *testing.T, w *warp, selector int) {
	r := rand.New(rand.NewPCG(71, 72))
	c := &x.shape
	for range 10 {
		for _, f := range []*fragment{&c.a, &c.b} {
			for lane := range 32 {
				for i := range f.count {
					f.set(w, lane, i, x.random(r))
				}
			}
		}
		columns := c.choose(&w.regs[mmaMetadata], r, selector)
		m := gather(w, &c.mmaCase, x.a, x.b)
		var addends [16][8]uint64
		for lane := range 32 {
			for i := range c.c.count {
				v := uint64(r.IntN(1000))
				if x.result != nil {
					v = nearOne(r, x.result)
				}
				c.c.set(w, lane, i, v)
				row, column := c.c.at(lane/4, lane%4, i)
				addends[row][column] = v
			}
		}
		w.runAll(t)
		d := c.c
		d.register = mmaD
		for lane := range 32 {
			for i := range d.count {
				row, column := d.at(lane/4, lane%4, i)
				x.check(t, m, columns[row], row, column, addends[row][column], d.word(w, lane, i))
			}
		}
	}
}

func (x *sparseTest) check(t *testing.T, m *matrices[*big.Float], columns []int, row, column int, addend, got uint64) {
	t.Helper()
	sum := new(big.Float).SetPrec(exactPrec).SetInt64(int64(addend))
	if x.result != nil {
		sum = valueOf(x.result, addend)
	}
	for k, at := range columns {
		sum.Add(sum, new(big.Float).SetPrec(exactPrec).Mul(m.a[row][k], m.b[column][at]))
	}
	if x.result == nil {
		want, _ := sum.Int64()
		if err := differ("the sum", got, uint64(uint32(want))); err != nil {
			t.Fatalf("%s, row %d, column %d: %v", x.text, row, column, err)
		}
	} else if sum.Sign() != 0 && !checkRounded(x.result, sum, got, roundRN) {
		t.Fatalf("%s, row %d, column %d: %#x is not %g rounded", x.text, row, column, got, sum)
	}
}
