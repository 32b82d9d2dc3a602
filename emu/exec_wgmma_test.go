package emu

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/cubin/sass"
)

// A groupTest is one product of a warpgroup, seen from its first warp, with matrices of small integers: their sums are exact in every
// type of accumulator.
type groupTest struct {
	*memoryTest
	columns, depth, size int // of B, A's depth, and bytes of an element
	height               int // B's depth, twice A's where that is sparse
	a                    [16][256]int
	b                    [256][256]int
	places               [16][]int // of a sparse A: where in a column of B the elements of a row belong
}

// groupSharedB is where B begins in shared memory, behind a warp's rows of A; groupSharedBytes has room for the largest B behind it.
const (
	groupSharedB     = 4 << 10
	groupSharedBytes = 68 << 10
)

// newGroupTest draws the matrices and writes them where random descriptors say; nil for an instruction that is refused.
func newGroupTest(t *testing.T, in sass.Inst, r *rand.Rand) *groupTest {
	at := findOperand(&in, sass.KindGDesc)
	d, c, u := &in.Operands[0], &in.Operands[at+1], in.Operands[at].Reg
	if refused(in) || d.Reg == sass.RZ || d.Reg > 100 || c.Reg != sass.RZ && c.Reg > 100 || u > 56 || u%4 != 0 {
		return nil
	}
	x := &groupTest{memoryTest: newSharedTest(t, in, r, groupSharedBytes), columns: int(in.Mod(sass.GmmaN))}
	x.w.active = allLanes
	x.size = map[sass.Op]int{sass.HGMMA: 2, sass.QGMMA: 1, sass.IGMMA: 1, sass.BGMMA: 1}[in.Op]
	if in.Mod(sass.SrcType) == sass.TypeTF32 {
		x.size = 4
	}
	x.depth = 32 / x.size
	x.height = x.depth
	if in.Mod(sass.Sparse) != 0 {
		x.height *= 2
		if e := &in.Operands[at+3]; e.Reg == sass.RZ || e.Reg > 100 {
			return nil
		}
	}
	transposed := uint16(in.Operands[at].Swz)
	second := in.Mod(sass.SrcType2)
	if in.Op == sass.HGMMA || in.Op == sass.BGMMA {
		second = in.Mod(sass.SrcType)
	}
	a, b := x.draw(in.Mod(sass.SrcType)), x.draw(second)
	if in.Operands[1].Source {
		x.fillRegisters(int(in.Operands[1].Reg), a)
	} else {
		x.describe(u, x.place(16, x.depth, transposed&sass.GroupTransposeA != 0, 0, a))
	}
	x.describe(u+2, x.place(x.columns, x.height, transposed&sass.GroupTransposeB != 0, groupSharedB, b))
	for row := range x.a {
		for k := range x.depth {
			x.a[row][k] = x.number(a(row, k), in.Mod(sass.SrcType))
		}
	}
	for column := range x.columns {
		for k := range x.height {
			x.b[column][k] = x.number(b(column, k), second)
		}
	}
	if x.height > x.depth && !x.sparse(at) {
		return nil
	}
	return x
}

// sparse draws the metadata of A; false for registers that are others' too.
func (x *groupTest) sparse(at int) bool {
	c := sparseShape(8*x.size, x.height, 32)
	e := x.in.Operands[at+3].Reg
	for _, o := range []struct{ first, n int }{{int(x.in.Operands[0].Reg), x.columns / 2}, {int(x.in.Operands[at+1].Reg), x.columns / 2}, {int(x.in.Operands[1].Reg), 4}} {
		if int(e) >= o.first && int(e) < o.first+o.n {
			return false
		}
	}
	x.places = c.choose(&x.w.regs[e], x.r, int(x.in.Operands[at+4].Imm))
	return true
}

// draw returns elements of a matrix as they are encoded: -2 to 2 of numbers.
func (x *groupTest) draw(format uint16) func(row, k int) uint64 {
	var all [256][64]uint64
	numbers := map[uint16][5]uint64{
		sass.TypeF16: {0xc000, 0xbc00, 0, 0x3c00, 0x4000}, sass.TypeBF16: {0xc000, 0xbf80, 0, 0x3f80, 0x4000},
		sass.TypeTF32: {0xc0000000, 0xbf800000, 0, 0x3f800000, 0x40000000},
		sass.TypeE4M3: {0xc0, 0xb8, 0, 0x38, 0x40}, sass.TypeE5M2: {0xc0, 0xbc, 0, 0x3c, 0x40},
		sass.TypeS8: {0xfe, 0xff, 0, 1, 2}, sass.TypeU8: {254, 255, 0, 1, 2},
	}[format]
	for row := range all {
		for k := range all[row] {
			all[row][k] = numbers[x.r.IntN(5)]
			if x.in.Op == sass.BGMMA {
				all[row][k] = uint64(x.r.IntN(256))
			}
		}
	}
	return func(row, k int) uint64 { return all[row][k] }
}

// number is what an encoded element stands for.
func (x *groupTest) number(v uint64, format uint16) int {
	switch {
	case x.in.Op == sass.BGMMA || format == sass.TypeU8:
		return int(v)
	case format == sass.TypeS8:
		return int(int8(v))
	}
	sign, magnitude := 1, v&(1<<(8*x.size-1)-1)
	if v>>(8*x.size-1) != 0 {
		sign = -1
	}
	switch {
	case magnitude == 0:
		return 0
	case magnitude&^(1<<(8*x.size-2)) == 0: // only the highest bit of the exponent is set
		return 2 * sign
	}
	return sign
}

// fillRegisters writes rows of A into their fragments (PTX ISA, wgmma.mma_async: register fragments of A).
func (x *groupTest) fillRegisters(first int, a func(row, k int) uint64) {
	for row := range 16 {
		for k := range x.depth {
			at := k * x.size
			register, lane := row/8+2*(at/16), row%8*4+at%16/4
			v, shift := &x.w.regs[first+register][lane], 8*(at%4)
			*v = *v&^uint32((1<<(8*x.size)-1)<<shift) | uint32(a(row, k)<<shift)
		}
	}
}

// place writes a matrix into shared memory in one of the canonical layouts (PTX ISA, wgmma.mma_async: matrices in shared memory), without
// swizzle or in swizzled rows of 128 bytes, and returns its descriptor.
func (x *groupTest) place(rows, depth int, transposed bool, base int, element func(row, k int) uint64) uint64 {
	parts := depth * x.size / 16
	lead, stride, mode := 128, 128*parts, uint64(0)
	swizzled := x.r.IntN(2) == 0 && !transposed
	switch {
	case swizzled:
		lead, stride, mode = 16, 1024, 1
	case transposed:
		lead, stride = 128, 128*depth/8 // along the depth, along the rows
	case x.r.IntN(2) == 0:
		lead, stride = (rows+7)/8*128, 128
	}
	for row := range rows {
		for k := range depth {
			at := row/8*stride + row%8*16 + k*x.size%16 + k*x.size/16*lead
			switch {
			case transposed:
				at = row/8*stride + row%8*2 + k%8*16 + k/8*lead
			case swizzled:
				at = row/8*stride + row%8*128 + k*x.size
				at ^= at >> 7 % 8 << 4
			}
			var word [8]byte
			binary.LittleEndian.PutUint64(word[:], element(row, k))
			copy(x.w.block.shared[base+at:], word[:x.size])
		}
	}
	return uint64(base)>>4 | uint64(lead)>>4<<16 | uint64(stride)>>4<<32 | mode<<62
}

// describe writes a descriptor into uniform registers.
func (x *groupTest) describe(u uint8, v uint64) {
	*x.w.uniformRegister(int(u)) = *broadcast(uint32(v))
	*x.w.uniformRegister(int(u) + 1) = *broadcast(uint32(v >> 32))
}

// product is the exact sum of products of an element of D.
func (x *groupTest) product(row, column int) (sum int) {
	for k := range x.depth {
		at := k
		if x.places[row] != nil {
			at = x.places[row][k]
		}
		if x.in.Op == sass.BGMMA {
			sum += bits.OnesCount8(uint8(x.a[row][k] & x.b[column][k]))
		} else {
			sum += x.a[row][k] * x.b[column][at]
		}
	}
	flags := uint16(x.in.Operands[findOperand(&x.in, sass.KindGDesc)].Swz)
	for _, negative := range []bool{flags&sass.GroupNegateA != 0, flags&sass.GroupNegateB != 0, x.in.Operands[1].Neg} {
		if negative {
			sum = -sum
		}
	}
	return sum
}

// compare executes the product and compares D with the definition.
func (x *groupTest) compare(t *testing.T) {
	t.Helper()
	at := findOperand(&x.in, sass.KindGDesc)
	half := x.in.Mod(sass.DstType) == sass.TypeF16 && (x.in.Op == sass.HGMMA || x.in.Op == sass.QGMMA)
	integers := x.in.Op == sass.IGMMA || x.in.Op == sass.BGMMA
	pp := predicateOf(&x.in.Operands[at+2])
	registers := x.columns / 2
	if half {
		registers /= 2
	}
	c := make([]lanes, registers)
	for i := range c {
		for lane := range c[i] {
			n := x.r.IntN(200) - 100
			switch {
			case integers:
				c[i][lane] = uint32(n)
			case half:
				c[i][lane] = 0x54005640 // 64, 100
			default:
				c[i][lane] = math.Float32bits(float32(n))
			}
		}
		if r := x.in.Operands[at+1].Reg; r != sass.RZ {
			x.w.regs[int(r)+i] = c[i]
		} else {
			c[i] = lanes{}
		}
	}
	if x.w.get(pp) == 0 {
		clear(c)
	}
	if err := x.w.step(); err != nil {
		t.Fatalf("%s: %v", x.in.Text(), err)
	}
	for row := range 16 {
		for column := range x.columns {
			lane, i := row%8*4+column%8/2, column/8*4+row/8*2+column%2
			want, got := x.product(row, column), 0
			d, from := x.w.regs[int(x.in.Operands[0].Reg)+i/(elementsOf(half))], c[i/elementsOf(half)]
			switch shift := 16 * (i % 2); {
			case integers:
				want, got = want+int(int32(from[lane])), int(int32(d[lane]))
			case half:
				want += int(f16ToF64(uint16(from[lane] >> shift)))
				got = int(f16ToF64(uint16(d[lane] >> shift)))
			default:
				want += int(math.Float32frombits(from[lane]))
				got = int(math.Float32frombits(d[lane]))
			}
			if got != want {
				t.Fatalf("%s: row %d, column %d is %d, want %d", x.in.Text(), row, column, got, want)
			}
		}
	}
}

// elementsOf is how many elements a register of D holds.
func elementsOf(half bool) int {
	if half {
		return 2
	}
	return 1
}

// TestGroupProductRows compares every row of the products of a warpgroup with their definition.
func TestGroupProductRows(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for i := range sass.Forms() {
		f := &sass.Forms()[i]
		if !slices.Contains([]sass.Op{sass.HGMMA, sass.QGMMA, sass.IGMMA, sass.BGMMA}, f.Op) {
			continue
		}
		done := 0
		samples(f, r, 4000, func(in sass.Inst) bool {
			if x := newGroupTest(t, in, r); x != nil {
				x.compare(t)
				tested.Store(f, true)
				done++
			}
			return done < 10
		})
		if done == 0 && canExecute(f) {
			t.Errorf("no instruction like %s was tried", sampleText(f))
		}
	}
}

// A product is one of all four warps, and so is the wait for it: the first warp clears the matrices behind its own wait, without a barrier, while the
// others issue their parts later, as code does that lets one thread have the next tile loaded there.
func TestGroupProductIsAwaitedByAll(t *testing.T) {
	const body = `
		SHF.L.U32 R7, R0, 0x4, RZ
		MOV R12, 0x3c003c00
		MOV R13, R12
		MOV R14, R12
		MOV R15, R12
		STS.128 [R7], R12
		BAR.SYNC.DEFER_BLOCKING 0x0
		ISETP.GE.AND P0, PT, R0, 0x20, PT
		@P0 NANOSLEEP 0x400
		UMOV UR8, URZ
		UMOV UR9, URZ
		UMOV UR10, URZ
		UMOV UR11, URZ
		MOV R24, RZ
		MOV R25, RZ
		MOV R26, RZ
		MOV R27, RZ
		WARPGROUP.ARRIVE
		HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0
		WARPGROUP.DEPBAR.LE gsb0, 0x0
		MOV R16, RZ
		MOV R17, RZ
		MOV R18, RZ
		MOV R19, RZ
		@!P0 STS.128 [R7], R16
		MOV R9, R24`
	eachOf(t, []sass.Arch{sass.SM90}, 128, body, func(uint32) uint32 { return math.Float32bits(16) })
}
