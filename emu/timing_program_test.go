package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/reconv"
	"gpa/emu/stall"
)

// A timedProgram is a small program to be timed. Its text has one instruction a line, with its control fields before it
// as in "[B------:R-:W0:-:S02] LDG.E.SYS R0, [R2]"; without them it is [B------:R-:W-:-:S01]. The parameters are 64-bit
// addresses of buffers, at c[0x0][0x160], c[0x0][0x168], ….
type timedProgram struct {
	text    string
	blocks  int // 1 where 0
	threads int // a block, 32 where 0
	shared  int
	buffers [][]uint32
	model   *arch.Model // v100 where nil
	level   TimingLevel
	// reconvergence is that of hardware where nil.
	reconvergence reconv.Model
	params        []byte // set by run
	// functions are the labels at which functions begin, behind the kernel; none for one function of all the code.
	functions []string
}

func testModel(tb testing.TB) *arch.Model {
	tb.Helper()
	return modelOf(sass.SM70)
}

// testBank is constant bank 2 of programs: 0, 0xffffffff, 0x12345678, 0x9abcdef0.
var testBank = []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x78, 0x56, 0x34, 0x12, 0xf0, 0xde, 0xbc, 0x9a}

// assemble makes a module with one kernel of the program's text, and a NOP behind it as compilers put there.
func (p *timedProgram) assemble(tb testing.TB) *cubin.File {
	tb.Helper()
	isa := p.isa()
	code := &cubin.Code{Name: "program"}
	for _, line := range append(p.lines(), "NOP") {
		control := "[B------:R-:W-:-:S01]"
		if strings.HasPrefix(line, "[") {
			control, line, _ = strings.Cut(line, " ")
		}
		c, err := sass.ParseControl(control)
		if err != nil {
			tb.Fatal(err)
		}
		in, err := sass.Parse(isa, uint64(len(code.Insts)*sass.InstSize), line, c)
		if err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		code.Insts = append(code.Insts, in)
	}
	code.Functions = []cubin.Function{{Name: "program", Demangled: "program", Size: uint64(len(code.Insts) * sass.InstSize)}}
	for _, name := range p.functions {
		last := &code.Functions[len(code.Functions)-1]
		at := p.label(tb, name)
		end := last.Offset + last.Size
		last.Size = at - last.Offset
		code.Functions = append(code.Functions, cubin.Function{Name: name, Demangled: name, Kind: cubin.DeviceFunction, Offset: at, Size: end - at})
	}
	k := &cubin.Kernel{Name: "program", Demangled: "program", Code: code, ParamBase: 0x160, ParamSize: 8 * len(p.buffers), Registers: 32, ConstBank2: testBank}
	return &cubin.File{Name: "program", Arch: isa, Codes: []*cubin.Code{code}, Kernels: []*cubin.Kernel{k}}
}

// isa returns the architecture that the text is written for, that of the model.
func (p *timedProgram) isa() sass.Arch {
	if p.model == nil {
		return sass.SM70
	}
	return sass.Arch(p.model.Arch)
}

// label returns the address of a label.
func (p *timedProgram) label(tb testing.TB, name string) uint64 {
	tb.Helper()
	n := 0
	for line := range strings.Lines(p.text) {
		switch line = strings.TrimSpace(line); {
		case line == name+":":
			return uint64(n * sass.InstSize)
		case line != "" && !strings.HasSuffix(line, ":"):
			n++
		}
	}
	tb.Fatalf("no label %s", name)
	return 0
}

// lines returns the instructions of the text with labels ("loop:" on a line of its own) replaced by addresses.
func (p *timedProgram) lines() []string {
	var lines, labels []string
	for line := range strings.Lines(p.text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutSuffix(line, ":"); ok {
			labels = append(labels, name, fmt.Sprintf("%#x", len(lines)*sass.InstSize))
		} else if line != "" {
			lines = append(lines, line)
		}
	}
	r := strings.NewReplacer(labels...)
	for i := range lines {
		lines[i] = r.Replace(lines[i])
	}
	return lines
}

// run runs the program and returns what the launch did, and the machine with the buffers' addresses.
func (p *timedProgram) run(tb testing.TB, o Observer) (*Result, *Machine, []uint64) {
	tb.Helper()
	model, level := p.model, p.level
	if model == nil {
		model = testModel(tb)
	}
	if level == TimingNone {
		level = TimingFull
	}
	m, l, addrs := p.start(tb, model, Options{Timing: level, Reconvergence: p.reconvergence, MaxInstructions: 1 << 30})
	l.Observer = o
	r, err := m.Launch(context.Background(), l)
	if err != nil {
		tb.Fatal(err)
	}
	return r, m, addrs
}

// start loads the program and fills its buffers.
func (p *timedProgram) start(tb testing.TB, model *arch.Model, o Options) (*Machine, *Launch, []uint64) {
	tb.Helper()
	f := p.assemble(tb)
	m, err := New(model, f, o)
	if err != nil {
		tb.Fatal(err)
	}
	p.params = nil
	var addrs []uint64
	for i, words := range p.buffers {
		addr, err := m.Alloc(string(rune('a'+i)), int64(4*len(words)))
		if err != nil {
			tb.Fatal(err)
		}
		data := make([]byte, 0, 4*len(words))
		for _, w := range words {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
		if err := m.Write(addr, data); err != nil {
			tb.Fatal(err)
		}
		p.params = binary.LittleEndian.AppendUint64(p.params, addr)
		addrs = append(addrs, addr)
	}
	return m, p.launch(f, p.params), addrs
}

// launch describes the launch of the program.
func (p *timedProgram) launch(f *cubin.File, params []byte) *Launch {
	return &Launch{Kernel: f.Kernels[0], Grid: [3]int{max(p.blocks, 1), 1, 1}, Block: [3]int{max(p.threads, 32), 1, 1},
		SharedDynamic: p.shared, Params: params, Stack: 64}
}

// A trace is an observer that sees every warp of one SM in every cycle.
type trace struct {
	sm      int
	issues  map[uint64][]int64 // by pc: cycles of issues, in order
	reasons map[uint64]map[stall.Reason]int
	states  map[WarpState]int
	samples int
	bad     []string // contradictions
}

func newTrace() *trace {
	return &trace{issues: map[uint64][]int64{}, reasons: map[uint64]map[stall.Reason]int{}, states: map[WarpState]int{}}
}

func (t *trace) Begin(*LaunchFacts) {}

func (t *trace) NextSample(sm int, cycle int64) int64 {
	if sm != t.sm {
		return 1 << 62
	}
	return cycle
}

func (t *trace) Sample(v SMView, cycle int64) {
	for s := range v.Schedulers() {
		selected := 0
		for i := range v.Warps(s) {
			w := v.Warp(s, i)
			t.samples++
			t.states[w]++
			if t.reasons[w.PC] == nil {
				t.reasons[w.PC] = map[stall.Reason]int{}
			}
			t.reasons[w.PC][w.Reason]++
			switch w.Reason {
			case stall.Selected:
				selected++
				t.issues[w.IssuedPC()] = append(t.issues[w.IssuedPC()], cycle)
			case stall.NotSelected:
				if !v.Issued(s) {
					t.bad = append(t.bad, "not_selected in a cycle without issue")
				}
			}
		}
		if want := 0; v.Issued(s) {
			want = 1
			if selected != want {
				t.bad = append(t.bad, "an issue without a selected warp")
			}
		} else if selected != want {
			t.bad = append(t.bad, "a selected warp without an issue")
		}
	}
}

// at returns the cycle in which the n-th instruction issued for the last time.
func (t *trace) at(tb testing.TB, n int) int64 {
	tb.Helper()
	cycles := t.issues[uint64(n*sass.InstSize)]
	if len(cycles) == 0 {
		tb.Fatalf("instruction %d did not issue", n)
	}
	return cycles[len(cycles)-1]
}

// twice runs a body two times, so that caches of code and constants hold it the second time. The body begins with the
// second instruction and must not use R31 and P6.
func twice(body string) string { return repeated(body, 2) }

// repeated is the same for another number of times.
func repeated(body string, times int) string {
	return fmt.Sprintf(`
		[B------:R-:W-:-:S04] MOV R31, %#x
		loop:
		`, times) + body + `
		[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P6, PT, R31, RZ, PT
		[B------:R-:W-:Y:S05] @P6 BRA loop
		[B------:R-:W-:Y:S05] EXIT`
}

// traced runs a program and returns the trace of SM 0.
func (p *timedProgram) traced(tb testing.TB) (*trace, *Result) {
	tb.Helper()
	t := newTrace()
	r, _, _ := p.run(tb, t)
	for _, b := range t.bad {
		tb.Error(b)
	}
	return t, r
}
