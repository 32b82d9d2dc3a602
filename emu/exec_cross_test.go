package emu

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
	"math"
	"strings"
)

// runCross executes instructions on random registers R1 to R8, uniform ones and predicates, in some lanes of a warp, and has
// the warp checked.
func runCross(t *testing.T, text string, check func(w *warp) error) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
		r := rand.New(rand.NewPCG(43, 44))
		w := newTestWarp(t, a, text)
		for round := range 300 {
			few := interesting(r)
			for n := 1; n <= 8; n++ {
				for lane := range 32 {
					if w.regs[n][lane] = interesting(r); round%3 == 0 { // many lanes agree
						w.regs[n][lane] = few + r.Uint32()&r.Uint32()&1
					}
				}
				if a >= sass.SM75 {
					*w.uniformRegister(n) = *broadcast(interesting(r))
				}
			}
			for p := range uint8(sass.PT) {
				w.preds[p] = r.Uint32() | -(r.Uint32() & 1)
				w.preds[uniformPredicate(p)] = -(r.Uint32() & 1)
			}
			w.active = r.Uint32() | 1<<r.IntN(32)
			w.runAll(t)
			if err := check(w); err != nil {
				t.Fatalf("%s, lanes %08x: %v", text, w.active, err)
			}
		}
	})
}

// crossLanes is runCross for a result in R0 of each lane that executes.
func crossLanes(t *testing.T, text string, want func(w *warp, lane int) uint32) {
	t.Helper()
	runCross(t, text, func(w *warp) (err error) {
		executing(w, func(lane int) {
			if err == nil {
				err = differ(fmt.Sprintf("R0 of lane %d", lane), w.regs[0][lane], want(w, lane))
			}
		})
		return err
	})
}

// What the lanes that execute reduce to, the lowest of them first.
func TestReductions(t *testing.T) {
	for name, reduce := range map[string]func(a, b uint32) uint32{
		"":         func(a, b uint32) uint32 { return a & b },
		".OR":      func(a, b uint32) uint32 { return a | b },
		".XOR":     func(a, b uint32) uint32 { return a ^ b },
		".SUM":     func(a, b uint32) uint32 { return a + b },
		".SUM.S32": func(a, b uint32) uint32 { return a + b },
		".MIN":     func(a, b uint32) uint32 { return min(a, b) },
		".MAX":     func(a, b uint32) uint32 { return max(a, b) },
		".MIN.S32": func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) },
		".MAX.S32": func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) },
	} {
		runCross(t, "REDUX"+name+" UR9, R1", func(w *warp) error {
			first := bits.TrailingZeros32(w.active)
			want := w.regs[1][first]
			executing(w, func(lane int) {
				if lane != first {
					want = reduce(want, w.regs[1][lane])
				}
			})
			return uniformIs(w, 9, want)
		})
	}
}

// The extremes of floats over the lanes that execute: NaNs do not count but with .NAN, zeros have an order.
func TestFloatReductions(t *testing.T) {
	number := func(b uint32) float64 { return float64(math.Float32frombits(b)) }
	for name, least := range map[string]bool{"MIN": true, "MINABS": true, "MAX": false, "MAXABS": false} {
		for _, nan := range []bool{false, true} {
			text := "CREDUX." + name + ".F32"
			if nan {
				text += ".NAN"
			}
			text += " UR9, R1"
			for _, a := range []sass.Arch{sass.SM100, sass.SM103} {
				if _, err := parseTest(a, text); err != nil {
					t.Fatal(err)
				}
			}
			r := rand.New(rand.NewPCG(3, uint64(len(text))))
			for round := range 400 {
				w := newTestWarp(t, sass.SM100, text)
				for lane := range 32 {
					if w.regs[1][lane] = interesting(r); round%3 == 0 {
						w.regs[1][lane] = [...]uint32{0, signF32, 0x7fc00001, 0xffffffff, oneF32, oneF32 | signF32}[r.IntN(6)]
					}
				}
				if w.active = r.Uint32() | 1<<r.IntN(32); round%4 == 0 {
					w.active = 1 << r.IntN(32)
				}
				w.runAll(t)
				want, any, poisoned := uint32(0), false, false
				executing(w, func(lane int) {
					v := w.regs[1][lane]
					if strings.HasSuffix(name, "ABS") {
						v &^= signF32
					}
					x := number(v)
					if x != x {
						poisoned = true
						return
					}
					y := number(want)
					above := x > y || x == y && !math.Signbit(x) && math.Signbit(y)
					below := x < y || x == y && math.Signbit(x) && !math.Signbit(y)
					if !any || least && below || !least && above {
						want, any = v, true
					}
				})
				if !any || nan && poisoned {
					want = 0x7fffffff
				}
				if err := uniformIs(w, 9, want); err != nil {
					t.Errorf("%s: %v", text, err)
					break
				}
			}
		}
	}
}

// uniformIs compares a uniform register, whose row has one value.
func uniformIs(w *warp, n int, want uint32) error {
	if got := *w.uniformRegister(n); got != *broadcast(want) {
		return fmt.Errorf("UR%d is %x, want %#x", n, got, want)
	}
	return nil
}

// R2UR takes the value of the lowest lane, and says in which lanes it is another.
func TestR2UR(t *testing.T) {
	runCross(t, "R2UR P0, UR9, R1", func(w *warp) error {
		v := w.regs[1][bits.TrailingZeros32(w.active)]
		if err := uniformIs(w, 9, v); err != nil {
			return err
		}
		for lane := range 32 {
			if w.active>>lane&1 != 0 && (w.preds[0]>>lane&1 != 0) != (w.regs[1][lane] != v) {
				return fmt.Errorf("P0 is wrong in lane %d", lane)
			}
		}
		return nil
	})
}

// R2UR.OR leaves the predicate true where it is.
func TestR2UROr(t *testing.T) {
	var before uint32
	runCross(t, "PLOP3.LUT P3, PT, P0, PT, PT, 0x80, 0x0 ; R2UR.OR P0, UR9, R1", func(w *warp) error {
		v := w.regs[1][bits.TrailingZeros32(w.active)]
		before = w.preds[3]
		for lane := range 32 {
			if w.active>>lane&1 != 0 && (w.preds[0]>>lane&1 != 0) != (w.regs[1][lane] != v || before>>lane&1 != 0) {
				return fmt.Errorf("P0 is wrong in lane %d", lane)
			}
		}
		return uniformIs(w, 9, v)
	})
}

func TestUniformVote(t *testing.T) {
	for mode, won := range map[string]func(yes, of uint32) bool{
		"ANY": func(yes, _ uint32) bool { return yes != 0 },
		"ALL": func(yes, of uint32) bool { return yes == of },
		"EQ":  func(yes, of uint32) bool { return yes == 0 || yes == of },
	} {
		runCross(t, "VOTEU."+mode+" UR9, UP0, !P1", func(w *warp) error {
			yes := ^w.preds[1] & w.active
			if err := uniformIs(w, 9, yes); err != nil {
				return err
			}
			return differ("UP0", w.preds[uniformPredicate(0)], -bit(won(yes, w.active)))
		})
	}
}

// MATCH.ALL gives the lanes that execute if they agree.
func TestMatchAll(t *testing.T) {
	for _, c := range []struct {
		text  string
		value func(w *warp, lane int) uint64
	}{
		{"MATCH.ALL P0, R0, R2", func(w *warp, lane int) uint64 { return uint64(w.regs[2][lane]) }},
		{"MATCH.ALL.U64 P0, R0, R2", func(w *warp, lane int) uint64 { return pair(w, 2, lane) }},
	} {
		runCross(t, c.text, func(w *warp) (err error) {
			agree := true
			executing(w, func(lane int) {
				agree = agree && c.value(w, lane) == c.value(w, bits.TrailingZeros32(w.active))
			})
			executing(w, func(lane int) {
				if w.regs[0][lane] != w.active&-bit(agree) || w.preds[0]>>lane&1 != bit(agree) {
					err = fmt.Errorf("lane %d: R0 = %08x, P0 = %d, they agree: %v", lane, w.regs[0][lane], w.preds[0]>>lane&1, agree)
				}
			})
			return err
		})
	}
}

// The matrix whose rows are lanes 4g to 4g+3 becomes its transpose (PTX ISA, movmatrix).
func TestMOVM(t *testing.T) {
	element := func(row *lanes, g, column int) uint32 { return row[4*g+column/2] >> (16 * (column % 2)) & 0xffff }
	runCross(t, "MOVM.16.MT88 R0, R1", func(w *warp) error {
		if w.active != allLanes {
			return nil // all lanes have to execute it
		}
		for g := range 8 {
			for column := range 8 {
				if got, want := element(&w.regs[0], g, column), element(&w.regs[1], column, g); got != want {
					return fmt.Errorf("row %d, column %d is %04x, want %04x", g, column, got, want)
				}
			}
		}
		return nil
	})
}

// Shuffles whose lane, clamp or both are registers, against the pseudocode of the PTX ISA.
func TestShuffleRegisters(t *testing.T) {
	for _, mode := range []string{"IDX", "UP", "DOWN", "BFLY"} {
		for operands, of := range map[string]func(w *warp, lane int) (b, c int){
			"R2, R3":      func(w *warp, lane int) (b, c int) { return int(w.regs[2][lane]), int(w.regs[3][lane]) },
			"R2, 0x181f":  func(w *warp, lane int) (b, c int) { return int(w.regs[2][lane]), 0x181f },
			"0x3, R3":     func(w *warp, lane int) (b, c int) { return 3, int(w.regs[3][lane]) },
			"0x5, 0x1c1f": func(*warp, int) (b, c int) { return 5, 0x1c1f },
		} {
			crossLanes(t, fmt.Sprintf("SHFL.%s P0, R0, R1, %s", mode, operands), func(w *warp, lane int) uint32 {
				b, c := of(w, lane)
				from, ok := shuffled(mode, lane, b, c)
				if (w.preds[0]>>lane&1 != 0) != ok {
					return ^w.regs[0][lane] // that cannot be
				}
				if ok && w.active>>from&1 == 0 {
					return 0
				}
				return w.regs[1][from]
			})
		}
	}
}

// Sources in the other register file.
func TestMixedFiles(t *testing.T) {
	crossLanes(t, "MOV R0, UR1", func(w *warp, _ int) uint32 { return w.uniformRegister(1)[0] })
	runCross(t, "UMOV UR9, UR3", func(w *warp) error { return uniformIs(w, 9, w.uniformRegister(3)[0]) })
	runCross(t, "UP2UR UR9, UPR, UR1, 0x5a", func(w *warp) error {
		var set uint32
		for p := range uint8(sass.UPT) {
			set |= w.preds[uniformPredicate(p)] & 1 << p
		}
		return uniformIs(w, 9, w.uniformRegister(1)[0]&^0x5a|set&0x5a)
	})
	runCross(t, "UIADD3.64 UR10, UR2, -UR4, UR6", func(w *warp) error {
		wide := func(n int) uint64 {
			return uint64(w.uniformRegister(n + 1)[0])<<32 | uint64(w.uniformRegister(n)[0])
		}
		return differ("UR10", wide(10), wide(2)-wide(4)+wide(6))
	})
	runCross(t, "UIADD3.64 UR10, UR2, -0x3, UR6", func(w *warp) error {
		wide := func(n int) uint64 {
			return uint64(w.uniformRegister(n + 1)[0])<<32 | uint64(w.uniformRegister(n)[0])
		}
		return differ("UR10", wide(10), wide(2)-3+wide(6))
	})
}

// Predicates of both files and signs of registers through truth tables.
func TestPredicateLogic(t *testing.T) {
	for _, lut := range []uint32{0x96, 0x80, 0xe8, 0x2b, 0x01} {
		for _, sources := range []string{"P1, P2, P3", "P1, P2, UP3", "P1, !P2, !UP3", "!P1, R5.SIGN, P3", "P1, R5.SIGN, R6.SIGN", "R4.SIGN, R5.SIGN, R6.SIGN", "UP1, UP2, !UP3"} {
			op, dst := "PLOP3", "P0, P4"
			if sources[0] == 'U' {
				op, dst = "UPLOP3", "UP0, UP4"
			}
			text := fmt.Sprintf("%s.LUT %s, %s, %#x, %#x", op, dst, sources, lut, 255-lut)
			if !parsesAnywhere(text) {
				t.Errorf("%s: no architecture knows it", text)
				continue
			}
			runCross(t, text, func(w *warp) (err error) {
				executing(w, func(lane int) {
					a, b, c := truthsOf(w, sources, lane)
					want := lut >> (a<<2 | b<<1 | c) & 1
					first, second := uint8(0), uint8(4)
					if op == "UPLOP3" {
						first, second = uniformPredicate(0), uniformPredicate(4)
					}
					if w.preds[first]>>lane&1 != want || w.preds[second]>>lane&1 == want {
						err = fmt.Errorf("lane %d: not %d", lane, want)
					}
				})
				return err
			})
		}
	}
}

// truthsOf reads the three sources of a text.
func truthsOf(w *warp, sources string, lane int) (a, b, c uint32) {
	var values [3]uint32
	n := 0
	for k := 0; k < len(sources); k++ {
		not := uint32(0)
		if sources[k] == '!' {
			not, k = 1, k+1
		}
		switch {
		case sources[k] == 'R':
			values[n], k = w.regs[sources[k+1]-'0'][lane]>>31, k+len("R5.SIGN")
		case sources[k] == 'U':
			values[n], k = w.preds[uniformPredicate(sources[k+2]-'0')]>>lane&1, k+len("UP1")
		default:
			values[n], k = w.preds[sources[k+1]-'0']>>lane&1, k+len("P1")
		}
		values[n] ^= not
		n, k = n+1, k+1 // past the comma; the loop skips the space
	}
	return values[0], values[1], values[2]
}
