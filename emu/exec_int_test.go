package emu

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// interesting returns integers that are often at a limit.
func interesting(r *rand.Rand) uint32 {
	switch r.IntN(4) {
	case 0:
		return [...]uint32{0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff}[r.IntN(11)]
	case 1:
		return r.Uint32() >> r.IntN(32)
	}
	return r.Uint32()
}

// runRandom executes the instructions on interesting integers in R1 to R8 and random predicates, a few times, and has
// each lane checked. R0 and R10 on are for results. So it does with the instructions of the uniform datapath that do the
// same.
func runRandom(t *testing.T, text string, check func(w *warp, lane int) error) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) { runRandomOn(t, a, text, check) })
	uniform := uniformText(text)
	if _, err := parseTest(sass.SM90, uniform); err == nil {
		onArchitectures(t, uniform, func(t *testing.T, a sass.Arch) { runUniform(t, a, uniform, check) })
	}
}

var (
	mnemonic = regexp.MustCompile(`(^|; *)([A-Z])`)
	operand  = regexp.MustCompile(`\b([RP])([0-9]+|Z|T)\b`)
)

// uniformText is the text of instructions of the uniform datapath, if there are any, that do what the others do.
func uniformText(text string) string {
	return operand.ReplaceAllString(mnemonic.ReplaceAllString(text, "${1}U$2"), "U$1$2")
}

// runUniform is runRandomOn for the uniform datapath: check sees uniform registers and predicates in the place of the
// others.
func runUniform(t *testing.T, a sass.Arch, text string, check func(w *warp, lane int) error) {
	t.Helper()
	r := rand.New(rand.NewPCG(27, 28))
	w := newTestWarp(t, a, text)
	for range 2000 {
		for n := 1; n <= 8; n++ {
			*w.uniformRegister(n) = *broadcast(interesting(r))
		}
		for p := range uint8(sass.UPT) {
			w.preds[uniformPredicate(p)] = -(r.Uint32() & 1)
		}
		w.active = r.Uint32() | 1<<r.IntN(32) // whichever execute, the result is the same
		w.runAll(t)
		view := &warp{regs: w.regs[w.block.run.program.registers:]}
		view.preds[sass.PT] = allLanes
		copy(view.preds[:sass.PT], w.preds[sass.PT+1:])
		for _, lane := range []int{0, 31} {
			if err := check(view, lane); err != nil {
				t.Fatalf("UR1 = %08x, UR2 = %08x, UR3 = %08x: %v", view.regs[1][0], view.regs[2][0], view.regs[3][0], err)
			}
		}
	}
}

func runRandomOn(t *testing.T, a sass.Arch, text string, check func(w *warp, lane int) error) {
	t.Helper()
	r := rand.New(rand.NewPCG(17, 18))
	w := newTestWarp(t, a, text)
	for range 200 {
		for n := 1; n <= 8; n++ {
			for lane := range 32 {
				w.regs[n][lane] = interesting(r)
			}
		}
		for p := range 7 {
			w.preds[p] = r.Uint32()
		}
		w.runAll(t)
		for lane := range 32 {
			if err := check(w, lane); err != nil {
				t.Fatalf("lane %d: R1 = %08x, R2 = %08x, R3 = %08x: %v", lane, w.regs[1][lane], w.regs[2][lane], w.regs[3][lane], err)
			}
		}
	}
}

// pair returns a 64-bit register.
func pair(w *warp, n, lane int) uint64 {
	return uint64(w.regs[n+1][lane])<<32 | uint64(w.regs[n][lane])
}

func differ[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %#x, want %#x", what, any(got), any(want))
	}
	return nil
}

// The results of instructions with one 32-bit result.
func TestIntegerExecutors(t *testing.T) {
	high := func(hi, lo uint32, n uint) uint32 { return uint32((uint64(hi)<<32 | uint64(lo)) >> (32 - n)) }
	for _, c := range []struct {
		text string
		want func(a, b, c uint32, p, q bool) uint32
	}{
		{"IADD3 R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return a + b + c }},
		{"IADD3 R0, -R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return b + c - a }},
		{"IADD3 R0, R1, -R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return a + c - b }},
		{"IADD3 R0, -R1, -R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return c - a - b }},
		{"IADD3 R0, R1, R2, -R3", func(a, b, c uint32, _, _ bool) uint32 { return a + b - c }},
		{"IADD3 R0, R1, -0x5, RZ", func(a, _, _ uint32, _, _ bool) uint32 { return a - 5 }},
		{"IADD3.X R0, R1, ~R2, R3, P0, P1", func(a, b, c uint32, p, q bool) uint32 { return a + ^b + c + bit(p) + bit(q) }},
		{"IADD3.X R0, R1, R2, RZ, !P0, !PT", func(a, b, _ uint32, p, _ bool) uint32 { return a + b + bit(!p) }},
		{"IMAD R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return a*b + c }},
		{"IMAD R0, R1, R2, -R3", func(a, b, c uint32, _, _ bool) uint32 { return a*b - c }},
		{"IMAD.X R0, R1, R2, ~R3, P0", func(a, b, c uint32, p, _ bool) uint32 { return a*b + ^c + bit(p) }},
		{"VIADD R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return a + b }},
		{"VIADD R0, R1, -R2", func(a, b, _ uint32, _, _ bool) uint32 { return a - b }},
		{"IMNMX R0, R1, R2, PT", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(min(int32(a), int32(b))) }},
		{"IMNMX R0, R1, R2, !PT", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(max(int32(a), int32(b))) }},
		{"IMNMX.U32 R0, R1, R2, P0", func(a, b, _ uint32, p, _ bool) uint32 { return choose(p, min(a, b), max(a, b)) }},
		{"IMAD.HI R0, R1, R2, RZ", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }},
		{"IMAD.HI.U32 R0, R1, R2, RZ", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }},
		{"LEA.X R0, R1, R2, 0x5, P0", func(a, b, _ uint32, p, _ bool) uint32 { return a<<5 + b + bit(p) }},
		{"LEA.X R0, ~R1, R2, 0x5, P0", func(a, b, _ uint32, p, _ bool) uint32 { return ^(a << 5) + b + bit(p) }},
		{"MOV R0, R2", func(_, b, _ uint32, _, _ bool) uint32 { return b }},
		{"IABS R0, R1", func(a, _, _ uint32, _, _ bool) uint32 { return choose(int32(a) < 0, -a, a) }},
		{"FLO.U32 R0, R1", func(a, _, _ uint32, _, _ bool) uint32 { return uint32(bits.Len32(a) - 1) }},
		{"FLO R0, R1", func(a, _, _ uint32, _, _ bool) uint32 { return uint32(bits.Len32(choose(int32(a) < 0, ^a, a)) - 1) }},
		{"FLO.U32.SH R0, R1", func(a, _, _ uint32, _, _ bool) uint32 {
			return choose(a == 0, allLanes, uint32(bits.LeadingZeros32(a)))
		}},
		{"POPC R0, R1", func(a, _, _ uint32, _, _ bool) uint32 { return uint32(bits.OnesCount32(a)) }},
		{"SGXT R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return extended(a, b, true) }},
		{"SGXT.U32 R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return extended(a, b, false) }},
		{"SGXT.W R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return extended(a, b&31, true) }},
		{"BMSK R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(uint64(1)<<min(b, 32)-1) << a }},
		{"BMSK.W R0, R1, R2", func(a, b, _ uint32, _, _ bool) uint32 { return (1<<(b&31) - 1) << (a & 31) }},
		{"SHF.L.U64.HI R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return uint32((uint64(c)<<32 | uint64(a)) << min(b, 64) >> 32) }},
		{"SHF.R.U64 R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return uint32((uint64(c)<<32 | uint64(a)) >> min(b, 64)) }},
		{"SHF.R.S64 R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return uint32(int64(uint64(c)<<32|uint64(a)) >> min(b, 64)) }},
		{"SHF.R.W.U32 R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return uint32((uint64(c)<<32 | uint64(a)) >> (b & 31)) }},
		{"PRMT.F4E R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return uint32((uint64(c)<<32 | uint64(a)) >> (8 * (b & 3))) }},
		{"PRMT.RC8 R0, R1, R2, R3", func(a, b, _ uint32, _, _ bool) uint32 { return a >> (8 * (b & 3)) & 0xff * 0x01010101 }},
		{"PRMT.RC16 R0, R1, R2, R3", func(a, b, _ uint32, _, _ bool) uint32 { return a >> (16 * (b & 1)) & 0xffff * 0x00010001 }},
		{"IMAD.MOV R0, RZ, RZ, -R3", func(_, _, c uint32, _, _ bool) uint32 { return -c }},
		{"LEA R0, R1, R2, 0x5", func(a, b, _ uint32, _, _ bool) uint32 { return a<<5 + b }},
		{"LEA R0, -R1, R2, 0x5", func(a, b, _ uint32, _, _ bool) uint32 { return b - a<<5 }},
		{"LEA.HI R0, R1, R2, R3, 0x5", func(a, b, c uint32, _, _ bool) uint32 { return high(c, a, 5) + b }},
		{"LEA.HI R0, -R1, R2, R3, 0x5", func(a, b, c uint32, _, _ bool) uint32 { return b - high(c, a, 5) }},
		{"LEA.HI.X R0, R1, R2, R3, 0x2, P0", func(a, b, c uint32, p, _ bool) uint32 { return high(c, a, 2) + b + bit(p) }},
		{"LEA.HI.X R0, ~R1, R2, R3, 0x2, P0", func(a, b, c uint32, p, _ bool) uint32 { return ^high(c, a, 2) + b + bit(p) }},
		{"LEA.HI.SX32 R0, R1, R2, 0x1f", func(a, b, _ uint32, _, _ bool) uint32 { return uint32(int32(a)>>1) + b }},
		{"LEA.HI.X.SX32 R0, R1, R2, 0x2, P0", func(a, b, _ uint32, p, _ bool) uint32 { return uint32(int32(a)>>30) + b + bit(p) }},
		{"SEL R0, R1, R2, P0", func(a, b, _ uint32, p, _ bool) uint32 { return choose(p, a, b) }},
		{"SEL R0, R1, R2, !P0", func(a, b, _ uint32, p, _ bool) uint32 { return choose(p, b, a) }},
		{"SHF.L.U32 R0, R1, 0x7, RZ", func(a, _, _ uint32, _, _ bool) uint32 { return a << 7 }},
		{"SHF.R.U32.HI R0, RZ, R2, R3", func(_, b, c uint32, _, _ bool) uint32 { return c >> b }},
		{"SHF.R.S32.HI R0, RZ, R2, R3", func(_, b, c uint32, _, _ bool) uint32 { return uint32(int32(c) >> b) }},
		{"SHF.L.W.U32.HI R0, R1, R2, R1", func(a, b, _ uint32, _, _ bool) uint32 { return bits.RotateLeft32(a, int(b&31)) }},
		{"PRMT R0, R1, 0x2103, R2", func(a, _, _ uint32, _, _ bool) uint32 { return bits.RotateLeft32(a, 8) }},
		{"PRMT R0, R1, 0x9910, R2", func(a, _, _ uint32, _, _ bool) uint32 { return uint32(int32(int16(a))) }},
		{"PRMT R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return permuteBytes(a, b, c) }},
		{"VABSDIFF4.U8.ACC R0, R1, R2, R3", func(a, b, c uint32, _, _ bool) uint32 { return c + sumOfDifferences(a, b) }},
		{"BREV R0, R1", func(a, _, _ uint32, _, _ bool) uint32 { return bits.Reverse32(a) }},
		{"POPC R0, ~R1", func(a, _, _ uint32, _, _ bool) uint32 { return uint32(32 - bits.OnesCount32(a)) }},
	} {
		t.Run(c.text, func(t *testing.T) {
			runRandom(t, c.text, func(w *warp, lane int) error {
				want := c.want(w.regs[1][lane], w.regs[2][lane], w.regs[3][lane], w.preds[0]>>lane&1 != 0, w.preds[1]>>lane&1 != 0)
				return differ("R0", w.regs[0][lane], want)
			})
		})
	}
}

// extended is the sign or zero extension of the low n bits.
func extended(a, n uint32, signed bool) uint32 {
	mask := uint32(uint64(1)<<min(n, 32) - 1)
	if signed && n > 0 && n < 32 && a>>(n-1)&1 != 0 {
		return a | ^mask
	}
	return a & mask
}

func bit(p bool) uint32 { return choose(p, 1, 0) }

func choose(p bool, a, b uint32) uint32 {
	if p {
		return a
	}
	return b
}

func sumOfDifferences(a, b uint32) (sum uint32) {
	for k := 0; k < 32; k += 8 {
		x, y := a>>k&0xff, b>>k&0xff
		sum += max(x, y) - min(x, y)
	}
	return sum
}

// 64-bit sums, products and comparisons, by the sequences that compiled code has for them.
func TestWideExecutors(t *testing.T) {
	product := func(w *warp, lane int) uint64 { return uint64(w.regs[1][lane]) * uint64(w.regs[2][lane]) }
	for _, c := range []struct {
		text string
		want func(w *warp, lane int) uint64
	}{
		{"IADD3 R10, P0, R2, R4, RZ ; IADD3.X R11, R3, R5, RZ, P0, !PT", func(w *warp, l int) uint64 { return pair(w, 2, l) + pair(w, 4, l) }},
		{"IADD3 R10, P0, R2, -R4, RZ ; IADD3.X R11, R3, ~R5, RZ, P0, !PT", func(w *warp, l int) uint64 { return pair(w, 2, l) - pair(w, 4, l) }},
		{"IADD3 R10, P0, R2, -R4, RZ ; IMAD.X R11, R3, 0x1, ~R5, P0", func(w *warp, l int) uint64 { return pair(w, 2, l) - pair(w, 4, l) }},
		{"LEA R10, P0, R2, R4, 0x3 ; LEA.HI.X R11, R2, R5, R3, 0x3, P0", func(w *warp, l int) uint64 { return pair(w, 2, l)<<3 + pair(w, 4, l) }},
		{"LEA R10, P0, R2, R4, 0x3 ; LEA.HI.X.SX32 R11, R2, R5, 0x3, P0",
			func(w *warp, l int) uint64 { return uint64(int64(int32(w.regs[2][l])))<<3 + pair(w, 4, l) }},
		{"IADD3 R10, P0, P1, R2, R4, R6 ; IADD3.X R11, R3, R5, R7, P0, P1",
			func(w *warp, l int) uint64 { return pair(w, 2, l) + pair(w, 4, l) + pair(w, 6, l) }},
		{"IMAD.WIDE.U32 R10, R1, R2, R4", func(w *warp, l int) uint64 { return product(w, l) + pair(w, 4, l) }},
		{"IMAD.WIDE R10, R1, R2, R4",
			func(w *warp, l int) uint64 {
				return uint64(int64(int32(w.regs[1][l]))*int64(int32(w.regs[2][l]))) + pair(w, 4, l)
			}},
		{"IMAD.WIDE.U32 R10, R1, R2, -R4", func(w *warp, l int) uint64 { return product(w, l) - pair(w, 4, l) }},
		{"IMAD.WIDE.U32.X R10, R1, R2, R4, P0", func(w *warp, l int) uint64 { return product(w, l) + pair(w, 4, l) + uint64(w.preds[0]>>l&1) }},
		{"IMAD.WIDE.U32.X R10, R1, R2, ~R4, P0", func(w *warp, l int) uint64 { return product(w, l) + ^pair(w, 4, l) + uint64(w.preds[0]>>l&1) }},
		{"IMAD.WIDE.U32 R10, P0, R1, R2, R4 ; IADD3.X R10, RZ, RZ, RZ, P0, !PT ; MOV R11, RZ",
			func(w *warp, l int) uint64 {
				_, carry := bits.Add64(product(w, l), pair(w, 4, l), 0)
				return carry
			}},
	} {
		t.Run(c.text, func(t *testing.T) {
			runRandom(t, c.text, func(w *warp, lane int) error { return differ("R10", pair(w, 10, lane), c.want(w, lane)) })
		})
	}
}

// Every truth table of LOP3 and PLOP3.
func TestTruthTables(t *testing.T) {
	for lut := range 256 {
		text := fmt.Sprintf("LOP3.LUT P5, R0, R1, R2, R3, %#x, !PT ; PLOP3.LUT P0, P1, P2, P3, P4, %#x, %#x", lut, lut, 255-lut)
		runRandom(t, text, func(w *warp, lane int) error {
			var want uint32
			for i := range 32 {
				k := w.regs[1][lane]>>i&1<<2 | w.regs[2][lane]>>i&1<<1 | w.regs[3][lane]>>i&1
				want |= uint32(lut) >> k & 1 << i
			}
			if err := differ("R0", w.regs[0][lane], want); err != nil {
				return err
			}
			k := w.preds[2]>>lane&1<<2 | w.preds[3]>>lane&1<<1 | w.preds[4]>>lane&1
			p := uint32(lut) >> k & 1
			return differ("P5, P1, P0", [3]uint32{w.preds[5] >> lane & 1, w.preds[1] >> lane & 1, w.preds[0] >> lane & 1},
				[3]uint32{bit(want != 0), 1 - p, p})
		})
	}
}

func TestIntegerComparisons(t *testing.T) {
	for name, holds := range map[string]func(c int) bool{
		"F": func(int) bool { return false }, "T": func(int) bool { return true },
		"LT": func(c int) bool { return c < 0 }, "LE": func(c int) bool { return c <= 0 }, "EQ": func(c int) bool { return c == 0 },
		"NE": func(c int) bool { return c != 0 }, "GE": func(c int) bool { return c >= 0 }, "GT": func(c int) bool { return c > 0 },
	} {
		for _, unsigned := range []bool{false, true} {
			u := map[bool]string{true: ".U32"}[unsigned]
			texts := [3]string{"ISETP.%s%s.AND P0, P1, R1, R2, P2", "ISETP.%s%s.OR P0, P1, R1, R2, !P2", "ISETP.%s%s.XOR P0, P1, R1, R2, P2"}
			for k, text := range texts {
				text = fmt.Sprintf(text, name, u)
				var before uint32
				runRandom(t, "PLOP3.LUT P2, PT, P3, P3, P3, 0xf0, 0x0 ; "+text, func(w *warp, lane int) error {
					before = w.preds[2] >> lane & 1
					r, n := holds(compare(w.regs[1][lane], w.regs[2][lane], unsigned)), before != 0
					want := [3][2]bool{{r && n, !r && n}, {r || !n, !r || !n}, {r != n, r == n}}[k]
					got := [2]bool{w.preds[0]>>lane&1 != 0, w.preds[1]>>lane&1 != 0}
					if got != want {
						return fmt.Errorf("%s: P0, P1 = %v, want %v", text, got, want)
					}
					return nil
				})
			}
		}
	}
}

func compare(a, b uint32, unsigned bool) int {
	x, y := int64(int32(a)), int64(int32(b))
	if unsigned {
		x, y = int64(a), int64(b)
	}
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// The predicates go into a register, are lost, and come back.
func TestPredicateSets(t *testing.T) {
	w := newTestWarp(t, sass.SM70, "P2R R0, PR, R1, 0x5f ; PLOP3.LUT P0, P1, PT, PT, PT, 0x0, 0x0 ; PLOP3.LUT P2, P3, PT, PT, PT, 0x0, 0x0 ; R2P PR, R0, 0x7")
	for p := range 7 {
		w.preds[p] = 0x12345678 << p
	}
	before := w.preds
	for lane := range 32 {
		w.regs[1][lane] = 0xabcdefff
	}
	w.runAll(t)
	for lane := range 32 {
		want := uint32(0xabcdefa0)
		for p := range 7 {
			want |= before[p] >> lane & 1 << p & 0x5f
		}
		if w.regs[0][lane] != want {
			t.Errorf("lane %d: %08x, want %08x", lane, w.regs[0][lane], want)
		}
	}
	if got, want := [4]uint32(w.preds[:4]), [4]uint32{before[0], before[1], before[2], 0}; got != want {
		t.Errorf("predicates %x, want %x", got, want)
	}
}

// The compiled sequences of 32-bit division give exact quotients: MUFU.RCP is exact enough for them.
func TestDivisionSequences(t *testing.T) {
	texts, _ := readVectors(t)
	var sequences []string
	for _, text := range texts {
		if strings.Contains(text, "MUFU.RCP") && strings.Contains(text, "F2I") {
			sequences = append(sequences, text)
		}
	}
	if len(sequences) != 2 {
		t.Fatalf("%d division sequences among the vectors, want 2", len(sequences))
	}
	r := rand.New(rand.NewPCG(19, 20))
	for _, text := range sequences {
		signed := strings.Contains(text, "IABS")
		w := newTestWarp(t, sass.SM70, text)
		for range 2000 {
			var n, d lanes
			for lane := range 32 {
				n[lane], d[lane] = interesting(r), max(interesting(r), 1)
			}
			w.regs[0], w.regs[7] = n, d
			w.runAll(t)
			for lane := range 32 {
				want := n[lane] / d[lane]
				if signed {
					want = uint32(int64(int32(n[lane])) / int64(int32(d[lane])))
				}
				if got := w.regs[5][lane]; got != want {
					t.Fatalf("signed %v: %08x / %08x = %08x, want %08x", signed, n[lane], d[lane], got, want)
				}
			}
		}
	}
}
