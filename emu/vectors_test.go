package emu

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// architectures are those whose machine code is known, the oldest first.
var architectures = []sass.Arch{sass.SM70, sass.SM75, sass.SM80, sass.SM86, sass.SM89, sass.SM90}

// models holds a GPU of each architecture.
var models = sync.OnceValue(func() map[sass.Arch]*arch.Model {
	all := make(map[sass.Arch]*arch.Model)
	for _, a := range append([]sass.Arch{sass.SM100, sass.SM120}, architectures...) {
		m, err := arch.ByName(fmt.Sprintf("sm_%d", a))
		if err != nil {
			panic(err)
		}
		all[a] = m
	}
	return all
})

// modelOf returns a GPU of an architecture, which the caller may change.
func modelOf(a sass.Arch) *arch.Model {
	m := *models()[a]
	return &m
}

// parseTest parses instructions, which are separated by semicolons, for an architecture.
func parseTest(architecture sass.Arch, text string) (list []sass.Inst, err error) {
	for i, line := range strings.Split(text, ";") {
		inst, err := sass.Parse(architecture, uint64(i)*sass.InstSize, strings.TrimSpace(line), sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		list = append(list, inst)
	}
	return list, nil
}

// onArchitectures runs a test of instructions on each architecture that has them in rows of its own: on the first that
// knows the text, and on those where it is encoded in other rows.
func onArchitectures(t *testing.T, text string, test func(t *testing.T, a sass.Arch)) {
	t.Helper()
	var seen [][]*sass.Form
	for _, a := range architectures {
		list, err := parseTest(a, text)
		if err != nil {
			continue
		}
		var forms []*sass.Form
		for i := range list {
			forms = append(forms, list[i].Form)
		}
		if slices.ContainsFunc(seen, func(other []*sass.Form) bool { return slices.Equal(other, forms) }) {
			continue
		}
		seen = append(seen, forms)
		t.Run(fmt.Sprintf("sm_%d", a), func(t *testing.T) { test(t, a) })
	}
	if seen == nil {
		_, err := parseTest(sass.SM90, text)
		t.Fatal(err)
	}
}

// onProducts is onArchitectures for a matrix product, and runs QMMA, which sm_120 has too and writes without layouts, there.
func onProducts(t *testing.T, text string, test func(t *testing.T, a sass.Arch, text string)) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) { test(t, a, text) })
	if strings.HasPrefix(text, "QMMA") {
		t.Run("sm_120", func(t *testing.T) { test(t, sass.SM120, strings.NewReplacer(".ROW", "", ".COL", "").Replace(text)) })
	}
}

// newTestWarp makes a full warp that executes the instructions, which are separated by semicolons.
func newTestWarp(tb testing.TB, architecture sass.Arch, text string) *warp {
	tb.Helper()
	list, err := parseTest(architecture, text)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range list {
		tested.Store(list[i].Form, true)
	}
	code := &cubin.Code{Name: "test", Insts: list}
	most := fmt.Sprintf("MOV R%d, RZ", formRegisters-1) // so many registers at least
	if architecture >= sass.SM75 {
		most += fmt.Sprintf(" ; UMOV UR%d, URZ", formRegisters-1)
	}
	all, err := parseTest(architecture, most)
	if err != nil {
		tb.Fatal(err)
	}
	module := &cubin.File{Arch: architecture, Codes: []*cubin.Code{code, {Name: "registers", Index: 1, Insts: all}}}
	p := compile(module, [32][]byte{}, modelOf(architecture), nil)
	size := [3]int{32, 1, 1}
	r := &launchRun{program: p, launch: &Launch{Kernel: &cubin.Kernel{}, Block: size}, machine: &Machine{module: module}, threads: threadIndices(size)}
	r.allow(0)
	w := &warp{scratch: r.domain.scratch, block: &block{run: r, domain: &r.domain}, exists: allLanes, active: allLanes, regs: make([]lanes, p.rows())}
	w.preds[sass.PT] = allLanes
	return w
}

// runAll executes all instructions of the warp's program.
func (w *warp) runAll(tb testing.TB) {
	tb.Helper()
	for w.pc = 0; w.pc < w.block.run.program.bases[1]-1; {
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
			onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
				all := vectors[text]
				for len(all) > 0 {
					n := min(len(all), 32)
					for _, mask := range []uint32{allLanes, 0x55555555, 0xaaaaaaaa} {
						runVectors(t, a, text, all[:n], mask)
					}
					all = all[n:]
				}
			})
		})
	}
}

// untouched is what destinations hold beforehand.
const untouched = 0x5ca1ab1e

func runVectors(t *testing.T, a sass.Arch, text string, vectors []vector, mask uint32) {
	t.Helper()
	w := newTestWarp(t, a, text)
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
