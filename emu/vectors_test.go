package emu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// newTestWarp makes a full warp that executes the instructions, which are separated by semicolons.
func newTestWarp(tb testing.TB, text string) *warp {
	tb.Helper()
	return newTestWarpOn(tb, sass.SM70, text)
}

// newTestWarpOn is newTestWarp with the instructions of an architecture.
func newTestWarpOn(tb testing.TB, architecture sass.Arch, text string) *warp {
	tb.Helper()
	code := &cubin.Code{Name: "test"}
	for i, line := range strings.Split(text, ";") {
		inst, err := sass.Parse(architecture, uint64(i)*sass.InstSize, strings.TrimSpace(line), sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		tested.Store(inst.Form, true)
		code.Insts = append(code.Insts, inst)
	}
	model, err := arch.ByName("v100")
	if err != nil {
		tb.Fatal(err)
	}
	p := compile(&cubin.File{Codes: []*cubin.Code{code}}, [32][]byte{}, model, nil)
	r := &launchRun{program: p, launch: &Launch{Block: [3]int{32, 1, 1}}}
	r.allow(0)
	w := &warp{scratch: r.domain.scratch, block: &block{run: r, domain: &r.domain}, exists: allLanes, active: allLanes, regs: make([]lanes, p.rows())}
	w.preds[sass.PT] = allLanes
	return w
}

// run executes all instructions of the warp's program.
func (w *warp) runAll(tb testing.TB) {
	tb.Helper()
	for w.pc = 0; int(w.pc) < len(w.block.run.program.ops)-1; {
		if err := w.step(); err != nil {
			tb.Fatal(err)
		}
	}
}

// An assignment is a value of one lane: R4=0000002a, P0=1. More than eight digits are a pair of registers, fewer the
// low bits of one.
type assignment struct {
	pred   bool
	number int
	digits int
	value  uint64
}

func parseAssignments(tb testing.TB, s, separator string) (list []assignment) {
	tb.Helper()
	for _, f := range strings.Split(s, separator) {
		if f == "" {
			continue
		}
		name, digits, ok := strings.Cut(f, "=")
		number, err := strconv.Atoi(name[1:])
		value, err2 := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil || err2 != nil {
			tb.Fatalf("assignment %q", f)
		}
		list = append(list, assignment{name[0] == 'P', number, len(digits), value})
	}
	return list
}

func (a assignment) set(w *warp, lane int) {
	switch {
	case a.pred:
		w.preds[a.number] = w.preds[a.number]&^(1<<lane) | uint32(a.value)<<lane
	default:
		w.regs[a.number][lane] = uint32(a.value)
		if a.digits > 8 {
			w.regs[a.number+1][lane] = uint32(a.value >> 32)
		}
	}
}

func (a assignment) get(w *warp, lane int) uint64 {
	switch {
	case a.pred:
		return uint64(w.preds[a.number] >> lane & 1)
	case a.digits > 8:
		return uint64(w.regs[a.number+1][lane])<<32 | uint64(w.regs[a.number][lane])
	}
	return uint64(w.regs[a.number][lane]) & (1<<(4*a.digits) - 1)
}

// A vector is what an instruction, or several, make of some inputs.
type vector struct{ in, out []assignment }

// readVectors returns the vectors of testdata/vectors.tsv by instruction text, and the texts in order.
func readVectors(tb testing.TB) (texts []string, vectors map[string][]vector) {
	tb.Helper()
	data, err := os.ReadFile("testdata/vectors.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	vectors = map[string][]vector{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if vectors[f[0]] == nil {
			texts = append(texts, f[0])
		}
		vectors[f[0]] = append(vectors[f[0]], vector{parseAssignments(tb, f[1], " "), parseAssignments(tb, f[2], "; ")})
	}
	return texts, vectors
}

// Every vector runs in a full warp, one in each lane, and again with every second lane switched off.
func TestVectors(t *testing.T) {
	texts, vectors := readVectors(t)
	for _, text := range texts {
		t.Run(text, func(t *testing.T) {
			all := vectors[text]
			for len(all) > 0 {
				n := min(len(all), 32)
				for _, mask := range []uint32{allLanes, 0x55555555, 0xaaaaaaaa} {
					runVectors(t, text, all[:n], mask)
				}
				all = all[n:]
			}
		})
	}
}

// untouched is what destinations hold beforehand.
const untouched = 0x5ca1ab1e

func runVectors(t *testing.T, text string, vectors []vector, mask uint32) {
	t.Helper()
	w := newTestWarp(t, text)
	w.active = mask
	for lane := range 32 {
		v := vectors[lane%len(vectors)]
		for _, a := range v.out {
			assignment{a.pred, a.number, a.digits, untouched<<32 | untouched&^1}.set(w, lane)
		}
		for _, a := range v.in {
			a.set(w, lane)
		}
	}
	before := *w
	before.regs = append([]lanes(nil), w.regs...)
	w.runAll(t)
	for lane := range 32 {
		v := vectors[lane%len(vectors)]
		for _, a := range v.out {
			want := a.value
			if mask>>lane&1 == 0 {
				want = a.get(&before, lane)
			}
			if got := a.get(w, lane); got != want {
				t.Errorf("mask %08x: %s gives %s", mask, v, assignment{a.pred, a.number, a.digits, got})
			}
		}
	}
}

func (v vector) String() string { return fmt.Sprintf("%v -> %v", v.in, v.out) }

func (a assignment) String() string {
	if a.pred {
		return fmt.Sprintf("P%d=%d", a.number, a.value)
	}
	return fmt.Sprintf("R%d=%0*x", a.number, a.digits, a.value)
}
