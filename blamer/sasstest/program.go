// Package sasstest builds small kernels with samples for tests of the blamer and of what stands on it. A kernel is
// written as SASS, one instruction a line:
//
//	.function $k$helper internal
//	loop: [B0-----:R-:W1:-:S02] @P0 LDG.E.SYS R0, [R2] ; // long_scoreboard=60/40@load selected=3 executed=100
//
// The label and the brackets are optional. The brackets hold the control codes, see [sass.ParseControl]. Branch targets
// are labels. The comment holds what a profile says of the
// instruction: samples and, after the slash, the latency samples among them; after @ the label of their true producer;
// executed and threads are source counters, and so are sectors and wavefronts, with the ideal number after the slash. A .function line begins another function: device or internal.
package sasstest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// Kernel is the name of the kernel of every program.
const Kernel = "k"

// A Program is a module with one section and a launch of its kernel.
type Program struct {
	Module *cubin.File
	Launch *profiler.Launch
	Labels map[string]int // label → instruction index
}

// line is one instruction as written.
type line struct{ control, text, comment string }

var (
	lineSyntax   = regexp.MustCompile(`^(?:(\w+):)?\s*(\[B[^\]]*\])?\s*(.*?)\s*;?\s*(?://\s*(.*))?$`)
	targetSyntax = regexp.MustCompile("`\\((\\w+)\\)")
)

// New assembles a program. The launch is one of 160 blocks of 128 threads on a V100; change it as the test needs.
func New(t testing.TB, source string) *Program {
	t.Helper()
	p := &Program{
		Module: &cubin.File{Name: "test.cubin", Arch: sass.SM70},
		Launch: &profiler.Launch{
			Kernel: Kernel, GPU: "v100", Grid: [3]int{160, 1, 1}, Block: [3]int{128, 1, 1}, Period: 32,
			Facts: profiler.Facts{
				Registers: 32, SMs: 80, SchedulersPerSM: 4, MaxWarpsPerScheduler: 16,
				WarpsPerScheduler: 2, OccupancyLimit: "grid", BlocksPerSM: 2,
			},
		},
		Labels: map[string]int{},
	}
	code := &cubin.Code{Name: Kernel, Functions: []cubin.Function{{Name: Kernel, Demangled: Kernel}}}
	lines := p.read(t, source, code)
	for i, l := range lines {
		code.Insts = append(code.Insts, p.assemble(t, i, l))
	}
	closeFunctions(code)
	p.Module.Codes = []*cubin.Code{code}
	p.Module.Kernels = []*cubin.Kernel{{Name: Kernel, Demangled: Kernel, Code: code}}
	for i, l := range lines {
		p.annotate(t, i, l.comment)
	}
	slices.SortStableFunc(p.Launch.Samples, func(x, y profiler.Sample) int { return int(x.PC) - int(y.PC) })
	return p
}

// read splits the source into instructions, labels and functions.
func (p *Program) read(t testing.TB, source string, code *cubin.Code) []line {
	t.Helper()
	var lines []line
	for _, text := range strings.Split(source, "\n") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if directive, ok := strings.CutPrefix(text, ".function "); ok {
			name, kind, _ := strings.Cut(directive, " ")
			f := cubin.Function{Name: name, Demangled: name, Kind: cubin.DeviceFunction, Offset: uint64(len(lines)) * sass.InstSize}
			if kind == "internal" {
				f.Kind = cubin.InternalFunction
			}
			code.Functions = append(code.Functions, f)
			continue
		}
		m := lineSyntax.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("not an instruction: %s", text)
		}
		if m[1] != "" {
			p.Labels[m[1]] = len(lines)
		}
		lines = append(lines, line{control: m[2], text: m[3], comment: m[4]})
	}
	return lines
}

func closeFunctions(code *cubin.Code) {
	end := uint64(len(code.Insts)) * sass.InstSize
	for i := range slices.Backward(code.Functions) {
		code.Functions[i].Size = end - code.Functions[i].Offset
		end = code.Functions[i].Offset
	}
}

func (p *Program) assemble(t testing.TB, i int, l line) sass.Inst {
	t.Helper()
	text := targetSyntax.ReplaceAllStringFunc(l.text, func(ref string) string {
		name := targetSyntax.FindStringSubmatch(ref)[1]
		target, ok := p.Labels[name]
		if !ok {
			t.Fatalf("%s: no label %s", l.text, name)
		}
		return fmt.Sprintf("%#x", target*sass.InstSize)
	})
	inst, err := sass.Parse(sass.SM70, uint64(i)*sass.InstSize, text+" ;", control(t, l.control))
	if err != nil {
		t.Fatalf("%s: %v", l.text, err)
	}
	return inst
}

// control reads the control codes; those of an instruction without brackets are a stall of one cycle.
func control(t testing.TB, text string) sass.Control {
	t.Helper()
	if text == "" {
		text = "[B------:R-:W-:-:S01]"
	}
	c, err := sass.ParseControl(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// annotate enters the samples and counters of one instruction.
func (p *Program) annotate(t testing.TB, inst int, comment string) {
	t.Helper()
	counter := profiler.Counter{PC: uint64(inst) * sass.InstSize}
	for _, field := range strings.Fields(comment) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "executed":
			counter.Executions = number(t, value)
		case "threads":
			counter.ThreadExecutions = number(t, value)
		case "sectors":
			counter.GlobalSectors, counter.GlobalSectorsIdeal = usedAndIdeal(t, value)
		case "wavefronts":
			counter.SharedWavefronts, counter.SharedWavefrontsIdeal = usedAndIdeal(t, value)
		default:
			p.sample(t, inst, name, value)
		}
	}
	if counter.Executions != 0 || counter.ThreadExecutions != 0 {
		p.Launch.PCs = append(p.Launch.PCs, counter)
	}
}

// usedAndIdeal reads a counter and, after the slash, what an ideal access would need.
func usedAndIdeal(t testing.TB, value string) (used, ideal int64) {
	t.Helper()
	first, second, _ := strings.Cut(value, "/")
	return number(t, first), number(t, second)
}

func (p *Program) sample(t testing.TB, inst int, name, value string) {
	t.Helper()
	reason, ok := stall.ParseReason(name)
	if !ok {
		t.Fatalf("not a stall reason: %s", name)
	}
	value, producer, known := strings.Cut(value, "@")
	all, latency, _ := strings.Cut(value, "/")
	s := profiler.Sample{PC: uint64(inst) * sass.InstSize, Reason: reason, Count: number(t, all)}
	if latency != "" {
		s.Latency = number(t, latency)
	}
	if reason == stall.Selected { // hardware shows what issues at the pc behind it
		s.PC += sass.InstSize
	}
	if known {
		def, ok := p.Labels[producer]
		if !ok {
			t.Fatalf("no label %s", producer)
		}
		s.Producer = profiler.Producer{Known: true, PC: uint64(def) * sass.InstSize}
	}
	p.Launch.Samples = append(p.Launch.Samples, s)
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
