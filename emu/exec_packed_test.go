package emu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// A packedSource is how a source of packed arithmetic reads: the registers of its low and its high number from the first one on, and
// which of them a negation on top is for.
type packedSource struct {
	text      string
	low, high int
	negHigh   bool
}

var packedSources = []packedSource{
	{".F32x2.HI_LO", 0, 1, false}, {".F32x2.LO_HI", 1, 0, false}, {".F32", 0, 0, false},
	{".F32x2.HI_LO.NP", 0, 1, true}, {".F32x2.LO_HI.NP", 1, 0, true}, {".F32.NP", 0, 0, true},
}

// TestPacked compares packed single precision, with all that its sources can be, with FADD, FMUL and FFMA on the numbers that the
// selectors name.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, op := range []struct {
		packed, single string
		sources        int
		signed         [3]bool // sources whose high number can be negated
		flush          []string
	}{
		{"FADD2", "FADD", 2, [3]bool{true, true}, []string{"", ".FTZ"}},
		{"FMUL2", "FMUL", 2, [3]bool{true}, []string{"", ".FTZ"}},
		{"FFMA2", "FFMA", 3, [3]bool{true, false, true}, []string{"", ".FTZ"}},
	} {
		for _, flush := range op.flush {
			for _, round := range []string{"", ".RM", ".RP", ".RZ"} {
				for range 40 {
					mods, text := flush+round, ""
					single := [2]string{} // the instructions of the low and of the high number
					for k := range op.sources {
						s := packedSources[r.IntN(len(packedSources))]
						if s.negHigh && !op.signed[k] {
							s = packedSources[r.IntN(3)]
						}
						sign, open, bars := "", "", [2]string{}
						if r.IntN(2) == 0 {
							sign = "-"
						}
						if r.IntN(3) == 0 {
							bars = [2]string{"|", "|"}
						}
						open = sign + bars[0]
						text += fmt.Sprintf(", %sR%d%s%s", open, 10+4*k, bars[1], s.text)
						high := sign
						if s.negHigh {
							high = map[string]string{"": "-", "-": ""}[sign]
						}
						single[0] += fmt.Sprintf(", %s%sR%d%s", sign, bars[0], 10+4*k+s.low, bars[1])
						single[1] += fmt.Sprintf(", %s%sR%d%s", high, bars[0], 10+4*k+s.high, bars[1])
					}
					comparePacked(t, r, op.packed+mods+" R%d"+text, op.single+mods+" R30"+single[0], op.single+mods+" R31"+single[1])
				}
			}
		}
	}
}

// comparePacked runs a packed instruction, whose result may take the place of a source, and the two single ones.
func comparePacked(t *testing.T, r *rand.Rand, packed, low, high string) {
	t.Helper()
	to := []int{4, 10, 14}[r.IntN(3)]
	packed = fmt.Sprintf(packed, to)
	w, v := newTestWarp(t, sass.SM100, packed), newTestWarp(t, sass.SM100, low+" ; "+high)
	for n := range formRegisters {
		for lane := range 32 {
			w.regs[n][lane] = interesting(r)
			v.regs[n][lane] = w.regs[n][lane]
		}
	}
	w.active = r.Uint32() | 1
	if r.IntN(2) == 0 {
		w.active = allLanes
	}
	before := [2]lanes{w.regs[to], w.regs[to+1]}
	w.runAll(t)
	v.runAll(t)
	for half := range before {
		for lane := range 32 {
			want := v.regs[30+half][lane]
			if w.active>>lane&1 == 0 {
				want = before[half][lane]
			}
			if got := w.regs[to+half][lane]; got != want {
				t.Errorf("%s: number %d of lane %d is %#08x, want %#08x", packed, half, lane, got, want)
				return
			}
		}
	}
}

// The registers that packed arithmetic reads and writes: one where the selector takes one for both numbers.
func TestPackedRegisters(t *testing.T) {
	for _, c := range []struct {
		text       string
		uses, defs []sass.Resource
	}{
		{"FFMA2 R8, R4.F32x2.HI_LO, R6.F32x2.LO_HI, R10.F32x2.HI_LO.NP", []sass.Resource{4, 5, 6, 7, 10, 11}, []sass.Resource{8, 9}},
		{"FFMA2 R8, R4.F32, R7.F32, R11.F32.NP", []sass.Resource{4, 7, 11}, []sass.Resource{8, 9}},
		{"FMUL2 R8, R4.F32x2.HI_LO, 2", []sass.Resource{4, 5}, []sass.Resource{8, 9}},
		{"FADD2 R8, R4.F32x2.HI_LO, UR6.F32", []sass.Resource{4, 5, sass.ResUReg + 6}, []sass.Resource{8, 9}},
		{"FADD2 R8, R4.F32x2.HI_LO, -UR6.F32x2.HI_LO.NP", []sass.Resource{4, 5, sass.ResUReg + 6, sass.ResUReg + 7}, []sass.Resource{8, 9}},
		{"LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64]", []sass.Resource{2, 3, sass.ResUReg + 4, sass.ResUReg + 5}, []sass.Resource{8, 9, 10, 11, 4, 5, 6, 7}},
		{"LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64], 0xcd", []sass.Resource{2, 3, sass.ResUReg + 4, sass.ResUReg + 5}, []sass.Resource{8, 9, 4, 5, 6}},
		{"STG.E.ENL2.256 desc[UR4][R2.64+0x40], R4, R8", []sass.Resource{2, 3, sass.ResUReg + 4, sass.ResUReg + 5, 4, 5, 6, 7, 8, 9, 10, 11}, nil},
		{"CREDUX.MAX.F32 UR6, R2", []sass.Resource{2}, []sass.Resource{sass.ResUReg + 6}},
	} {
		list, err := parseTest(sass.SM100, c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := list[0].Uses(nil); fmt.Sprint(got) != fmt.Sprint(c.uses) {
			t.Errorf("%s uses %v, want %v", c.text, got, c.uses)
		}
		if got := list[0].Defs(nil); fmt.Sprint(got) != fmt.Sprint(c.defs) {
			t.Errorf("%s defines %v, want %v", c.text, got, c.defs)
		}
	}
}

// Packed arithmetic has the pipe and the latency of single precision, and keeps the pipe for twice as long, so that there is no more of
// it in a cycle but half of the instructions.
func TestPackedTiming(t *testing.T) {
	of := func(text string) timing {
		list, err := parseTest(sass.SM100, text)
		if err != nil {
			t.Fatal(err)
		}
		return timingOf(&list[0], modelOf(sass.SM100))
	}
	for packed, single := range map[string]string{
		"FADD2 R4, R8.F32x2.HI_LO, R10.F32x2.HI_LO":                        "FADD R4, R8, R10",
		"FMUL2 R4, R8.F32x2.HI_LO, 2":                                      "FMUL R4, R8, 2",
		"FFMA2 R4, R8.F32x2.HI_LO, R10.F32x2.HI_LO, R12.F32x2.HI_LO":       "FFMA R4, R8, R10, R12",
		"FFMA2 R4, R8.F32x2.HI_LO, UR4.F32, R12.F32x2.HI_LO":               "FFMA R4, R8, UR4, R12",
		"FFMA2.FTZ R4, R8.F32x2.LO_HI, R10.F32x2.HI_LO, -R12.F32x2.HI_LO":  "FFMA.FTZ R4, R8, R10, -R12",
		"FFMA2.RZ R4, |R8|.F32x2.HI_LO, R10.F32x2.HI_LO, R12.F32x2.HI_LO ": "FFMA.RZ R4, R8, R10, R12",
	} {
		p, s := of(packed), of(single)
		if p.pipe != s.pipe || p.path != s.path || p.latency != s.latency || p.interval != 2*s.interval || p.words != 2 {
			t.Errorf("%s: pipe %v, path %v, latency %d, interval %d, %d registers; %s: %v, %v, %d, %d", packed, p.pipe, p.path, p.latency,
				p.interval, p.words, single, s.pipe, s.path, s.latency, s.interval)
		}
	}
}
