package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// An element says where the i-th element that a lane holds of a matrix is: its row and its column.
type element func(group, thread, i int) (row, column int)

// A fragment is the part of a matrix that lanes hold, from a register on.
type fragment struct {
	register int
	count    int // elements of a lane
	bits     int // of an element
	at       element
}

// word returns the bits of an element of a lane.
func (f *fragment) word(w *warp, lane, i int) uint64 {
	if f.bits == 64 {
		return pair(w, f.register+2*i, lane)
	}
	n := i * f.bits
	return uint64(w.regs[f.register+n/32][lane]) >> (n % 32) & (1<<f.bits - 1)
}

func (f *fragment) set(w *warp, lane, i int, v uint64) {
	if f.bits == 64 {
		w.regs[f.register+2*i][lane], w.regs[f.register+2*i+1][lane] = uint32(v), uint32(v>>32)
		return
	}
	n := i * f.bits
	r := &w.regs[f.register+n/32][lane]
	*r = *r&^(uint32(1<<f.bits-1)<<(n%32)) | uint32(v)<<(n%32)
}

// An mmaCase is a shape of matrices with the places of their elements, as figures of the PTX ISA (mma) show them.
type mmaCase struct {
	a, b, c fragment
	depth   int
}

const (
	mmaD, mmaA, mmaB, mmaC = 0, 8, 24, 32 // registers of the matrices in these tests
	mmaOperands            = " R0, R8, R24, R32"
	immaOperands           = " R0, R8.ROW, R24.COL, R32"
)

// tall is the row of an element of a matrix of 16 rows, whose lower half has the elements for which lower is true.
func tall(group int, lower bool) int {
	if lower {
		return group + 8
	}
	return group
}

// later adds to a column or row what elements from a number on have more.
func later(at, i, from, more int) int {
	if i >= from {
		return at + more
	}
	return at
}

// resultFragment is C or D: pairs of neighbours in a row.
func resultFragment(register, count, bits int) fragment {
	return fragment{register, count, bits, func(g, t, i int) (int, int) { return tall(g, i >= 2), 2*t + i&1 }}
}

// shortMMA is of 8 rows: each lane holds so many neighbours of one row of A and of one column of B.
func shortMMA(each, bits, resultBits int) mmaCase {
	return mmaCase{
		a:     fragment{mmaA, each, bits, func(g, t, i int) (int, int) { return g, each*t + i }},
		b:     fragment{mmaB, each, bits, func(g, t, i int) (int, int) { return each*t + i, g }},
		c:     resultFragment(mmaC, 2, resultBits),
		depth: 4 * each,
	}
}

// tallMMA is of 16 rows. A lane holds, of each stretch of columns, so many neighbours of a row of the upper half and of one of
// the lower half.
func tallMMA(each, stretches, bits, resultBits int) mmaCase {
	return mmaCase{
		a: fragment{mmaA, 2 * each * stretches, bits, func(g, t, i int) (int, int) {
			return tall(g, i/each%2 == 1), each*t + i%each + i/(2*each)*4*each
		}},
		b:     fragment{mmaB, each * stretches, bits, func(g, t, i int) (int, int) { return later(each*t+i%each, i, each, i/each*4*each), g }},
		c:     resultFragment(mmaC, 4, resultBits),
		depth: 4 * each * stretches,
	}
}

// matrices are A and B as integers or as exact numbers.
type matrices[T any] struct{ a, b [16][256]T }

// gather reads A and B out of the registers.
func gather[T any](w *warp, c *mmaCase, valueA, valueB func(uint64) T) *matrices[T] {
	m := new(matrices[T])
	for lane := range 32 {
		for i := range c.a.count {
			row, column := c.a.at(lane/4, lane%4, i)
			m.a[row][column] = valueA(c.a.word(w, lane, i))
		}
		for i := range c.b.count {
			row, column := c.b.at(lane/4, lane%4, i)
			m.b[column][row] = valueB(c.b.word(w, lane, i))
		}
	}
	return m
}

// runMMA runs an instruction on random matrices, and has each element of D checked.
func runMMA(t *testing.T, text string, c mmaCase, random func(r *rand.Rand, f *fragment) uint64, check func(w *warp) func(row, column int, addend, got uint64) error) {
	t.Helper()
	onProducts(t, text, func(t *testing.T, a sass.Arch, text string) {
		r := rand.New(rand.NewPCG(37, 38))
		w := newTestWarp(t, a, text)
		for range 20 {
			for _, f := range []*fragment{&c.a, &c.b, &c.c} {
				for lane := range 32 {
					for i := range f.count {
						f.set(w, lane, i, random(r, f))
					}
				}
			}
			expect := check(w)
			w.runAll(t)
			d := c.c
			d.register = mmaD
			for lane := range 32 {
				for i := range d.count {
					row, column := d.at(lane/4, lane%4, i)
					if err := expect(row, column, c.c.word(w, lane, i), d.word(w, lane, i)); err != nil {
						t.Fatalf("%s, row %d, column %d: %v", text, row, column, err)
					}
				}
			}
		}
	})
}

// Integers are exact: the sum wraps around or, with .SAT, is clamped.
func TestIntegerMMA(t *testing.T) {
	for shape, c := range map[string]mmaCase{
		"8816": shortMMA(4, 8, 32), "16816": tallMMA(4, 1, 8, 32), "16832": tallMMA(4, 2, 8, 32),
		"8832": shortMMA(8, 4, 32), "16832.4": tallMMA(8, 1, 4, 32), "16864": tallMMA(8, 2, 4, 32),
	} {
		n := c.a.bits
		shape = strings.TrimSuffix(shape, ".4")
		for _, sat := range []string{"", ".SAT"} {
			for _, types := range [][2]string{{"S", "S"}, {"S", "U"}, {"U", "S"}, {"U", "U"}} {
				text := fmt.Sprintf("IMMA.%s.%s%d.%s%d%s%s", shape, types[0], n, types[1], n, sat, immaOperands)
				random := func(r *rand.Rand, f *fragment) uint64 {
					if f.bits == 32 {
						return uint64(interesting(r))
					}
					return r.Uint64() & (1<<f.bits - 1)
				}
				runMMA(t, text, c, random, func(w *warp) func(row, column int, addend, got uint64) error {
					m := gather(w, &c, integerValue(types[0], n), integerValue(types[1], n))
					return func(row, column int, addend, got uint64) error {
						sum := int64(int32(addend))
						for k := range c.depth {
							sum += m.a[row][k] * m.b[column][k]
						}
						if sat != "" {
							sum = max(math.MinInt32, min(math.MaxInt32, sum))
						}
						return differ("the sum", got, uint64(uint32(sum)))
					}
				})
			}
		}
	}
}

// integerValue reads integers of so many bits with or without a sign.
func integerValue(sign string, n int) func(uint64) int64 {
	return func(v uint64) int64 {
		if sign == "S" && v>>(n-1) != 0 {
			return int64(v) - 1<<n
		}
		return int64(v)
	}
}

// Bits: the number of ones in the XOR or the AND of a row and a column is added.
func TestBitMMA(t *testing.T) {
	for shape, c := range map[string]mmaCase{"88128": shortMMA(1, 32, 32), "168128": tallMMA(1, 1, 32, 32), "168256": tallMMA(1, 2, 32, 32)} {
		for op, join := range map[string]func(a, b uint64) uint64{
			"XOR": func(a, b uint64) uint64 { return a ^ b }, "AND": func(a, b uint64) uint64 { return a & b },
		} {
			text := fmt.Sprintf("BMMA.%s.%s.POPC%s", shape, op, immaOperands)
			if !parsesAnywhere(text) { // sm_75 has one shape and one operation
				t.Errorf("%s: no architecture knows it", text)
				continue
			}
			random := func(r *rand.Rand, _ *fragment) uint64 { return uint64(interesting(r)) }
			same := func(v uint64) uint64 { return v }
			runMMA(t, text, c, random, func(w *warp) func(row, column int, addend, got uint64) error {
				m := gather(w, &c, same, same)
				return func(row, column int, addend, got uint64) error {
					sum := uint32(addend)
					for k := range c.depth {
						sum += uint32(bits.OnesCount64(join(m.a[row][k], m.b[column][k])))
					}
					return differ("the sum", got, uint64(sum))
				}
			})
		}
	}
}

func parsesAnywhere(text string) bool {
	for _, a := range architectures {
		if _, err := parseTest(a, text); err == nil {
			return true
		}
	}
	return false
}

// Floating point: the exact sum of all products and the addend, rounded once. That is the choice made here where the order
// and the rounding of additions in tensor cores are not published; hardware is known to differ in the last bits.
func TestFloatMMA(t *testing.T) {
	for _, c := range []struct {
		text     string
		shape    mmaCase
		from, to *floatFormat
		drop     uint // low bits of factors that do not count
	}{
		{"DMMA.884 R0, -R8, R24, R32", shortMMA(1, 64, 64), &formatF64, &formatF64, 0},
		{"DMMA.16x8x16 R0, R8, -R24, R32", tallMMA(1, 4, 64, 64), &formatF64, &formatF64, 0},
		{"HMMA.1688.F16", tallMMA(2, 1, 16, 16), &formatF16, &formatF16, 0},
		{"HMMA.1688.F32", tallMMA(2, 1, 16, 32), &formatF16, &formatF32, 0},
		{"HMMA.16816.F16", tallMMA(2, 2, 16, 16), &formatF16, &formatF16, 0},
		{"HMMA.16816.F32", tallMMA(2, 2, 16, 32), &formatF16, &formatF32, 0},
		{"HMMA.1688.F32.BF16", tallMMA(2, 1, 16, 32), &formatBF16, &formatF32, 0},
		{"HMMA.16816.F32.BF16", tallMMA(2, 2, 16, 32), &formatBF16, &formatF32, 0},
		{"HMMA.1684.F32.TF32", tallMMA(1, 1, 32, 32), &formatF32, &formatF32, 13},
		{"HMMA.1688.F32.TF32", tallMMA(1, 2, 32, 32), &formatF32, &formatF32, 13},
		{"DMMA.884", shortMMA(1, 64, 64), &formatF64, &formatF64, 0},
		{"DMMA.8x8x4", shortMMA(1, 64, 64), &formatF64, &formatF64, 0},
		{"DMMA.16x8x4", tallMMA(1, 1, 64, 64), &formatF64, &formatF64, 0},
		{"DMMA.16x8x8", tallMMA(1, 2, 64, 64), &formatF64, &formatF64, 0},
		{"DMMA.16x8x16", tallMMA(1, 4, 64, 64), &formatF64, &formatF64, 0},
	} {
		random := func(r *rand.Rand, f *fragment) uint64 {
			format := c.from
			if f.register == mmaC {
				format = c.to
			}
			return nearOne(r, format)
		}
		value := func(v uint64) *big.Float { return valueOf(c.from, v>>c.drop<<c.drop) }
		text, negative := c.text, strings.Contains(c.text, "-R")
		if !negative {
			text += mmaOperands
		}
		runMMA(t, text, c.shape, random, func(w *warp) func(row, column int, addend, got uint64) error {
			m := gather(w, &c.shape, value, value)
			return func(row, column int, addend, got uint64) error {
				sum := valueOf(c.to, addend)
				for k := range c.shape.depth {
					x := new(big.Float).SetPrec(exactPrec).Mul(m.a[row][k], m.b[column][k])
					if negative {
						x.Neg(x)
					}
					sum.Add(sum, x)
				}
				if sum.Sign() != 0 && !checkRounded(c.to, sum, got, roundRN) {
					return fmt.Errorf("%#x is not %g rounded", got, sum)
				}
				return nil
			}
		})
	}
}

// nearOne returns a number of up to some binades around 1, or zero.
func nearOne(r *rand.Rand, f *floatFormat) uint64 {
	if r.IntN(10) == 0 {
		return 0
	}
	exp := uint64(f.bias() + r.IntN(9) - 5)
	return r.Uint64()&(f.signBit()|1<<f.frac-1) | exp<<f.frac
}
