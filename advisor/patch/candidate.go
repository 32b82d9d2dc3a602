package patch

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

// A Program is what patches apply to: a launch of a kernel and the source file that defines it.
type Program struct {
	Launch *profiler.Launch
	Module *cubin.File
	Kernel string // its name in the source: no namespace, no template arguments
	File   string // the name of the source file without folders, as in the line table
	Text   []byte
}

// A Candidate is a change by which advice can be followed: of the source, of the compiler's flags or of the launch's shape.
type Candidate struct {
	Advice      *advisor.Advice
	Name        string // what is changed, and where
	Text        []byte // the changed source, nil where it stays as it is
	Flags       []string
	Grid, Block [3]int // another shape of the launch, of as many threads; zero for no change
	Rounds      bool   // results may differ by rounding
	Promises    bool   // that the kernel's pointers never overlap
}

// The flag by which compilers take approximate functions for all single-precision ones.
const fastMathFlag = "-use_fast_math"

// Candidates lists the changes for each piece of advice that has any, in the order of the advice and without repetition.
func (p *Program) Candidates(advice []advisor.Advice) [][]Candidate {
	w := &writer{program: p, source: NewSource(p.Text), seen: make(map[string]bool)}
	var list [][]Candidate
	for i := range advice {
		w.advice, w.list = &advice[i], nil
		w.write()
		if len(w.list) > 0 {
			list = append(list, w.list)
		}
	}
	return list
}

// A writer collects the candidates of one piece of advice.
type writer struct {
	program *Program
	source  *Source
	advice  *advisor.Advice
	list    []Candidate
	seen    map[string]bool
}

// add adds a candidate unless there was one like it.
func (w *writer) add(c Candidate) {
	key := fmt.Sprintf("%q %v %v %s", c.Flags, c.Grid, c.Block, c.Text)
	if w.seen[key] {
		return
	}
	w.seen[key] = true
	c.Advice = w.advice
	w.list = append(w.list, c)
}

// edited adds a candidate that changes the source, where it does.
func (w *writer) edited(name string, rounds bool, text []byte, err error) {
	if err == nil {
		w.add(Candidate{Name: name, Text: text, Rounds: rounds})
	}
}

// write adds the candidates of the advice.
func (w *writer) write() {
	lines := w.lines()
	switch w.advice.Optimizer {
	case "loop-unrolling":
		w.unroll(w.loops(lines), 4, 2, 8)
	case "code-reordering":
		w.restrict()
		w.unroll(w.loops(lines), 2, 4)
	case "restrict-pointers":
		w.restrict()
	case "fast-math":
		w.fastMath(lines)
	case "strength-reduction":
		w.floatConstants(lines)
		w.fastFunctions(lines)
		w.unroll(w.headers(lines), 1)
	case "occupancy-increase":
		w.launchBounds(w.advice.Match.Change.Resident)
	case "register-reuse":
		w.launchBounds(0)
		w.launchBounds(1)
		w.unroll(w.loops(lines), Full)
	case "function-splitting":
		w.unroll(w.loops(lines), 1)
	case "function-inlining":
		w.inline()
	}
	w.shape()
}

// lines lists the lines of the source file that the advice is about: that of its scope, then those of its hotspots.
func (w *writer) lines() []int {
	var list []int
	add := func(f cubin.Frame) {
		if f.Line > 0 && path.Base(f.File) == w.program.File && !slices.Contains(list, f.Line) {
			list = append(list, f.Line)
		}
	}
	m := w.advice.Match
	if m.Scope.Kind == advisor.LoopScope || m.Scope.Kind == advisor.LineScope {
		add(m.Scope.Frame)
	}
	for _, h := range m.Hotspots {
		for _, n := range []blamer.Node{h.Def, h.Use} {
			c := w.program.Module.Codes[n.Code]
			if frames := c.Frames(c.Insts[n.Inst].PC); len(frames) > 0 {
				add(frames[cubin.OwnFrame(frames)])
			}
		}
	}
	return list
}

// loops leaves the line of the advice's own loop; of advice that has none, those that are in different loops.
func (w *writer) loops(lines []int) []int {
	if w.advice.Match.Scope.Kind == advisor.LoopScope {
		return lines[:min(1, len(lines))]
	}
	var list []int
	met := make(map[int]bool)
	for _, line := range lines {
		if l := w.source.loopAt(line); l != nil && !met[l.keyword] {
			met[l.keyword] = true
			list = append(list, line)
		}
	}
	return list
}

// headers leaves the lines that are headers of loops.
func (w *writer) headers(lines []int) []int {
	return slices.DeleteFunc(slices.Clone(lines), func(line int) bool { return !w.source.LoopHeader(line) })
}

// at is a place for people.
func (w *writer) at(line int) string { return fmt.Sprintf("%s:%d", w.program.File, line) }

func (w *writer) unroll(lines []int, factors ...int) {
	for _, line := range lines {
		for _, factor := range factors {
			text, err := w.source.Unroll(line, factor)
			name := fmt.Sprintf("#pragma unroll %d", factor)
			if factor == Full {
				name = "#pragma unroll"
			}
			if l := w.source.loopAt(line); l != nil {
				w.edited(name+" at "+w.at(l.first), false, text, err)
			}
		}
	}
}

func (w *writer) restrict() {
	text, err := w.source.Restrict(w.program.Kernel)
	if err == nil {
		w.add(Candidate{Name: "__restrict__ pointers of " + w.program.Kernel, Text: text, Promises: true})
	}
}

func (w *writer) launchBounds(blocks int) {
	b := w.program.Launch.Block
	threads := b[0] * b[1] * b[2]
	text, err := w.source.LaunchBounds(w.program.Kernel, threads, blocks)
	name := fmt.Sprintf("__launch_bounds__(%d)", threads)
	if blocks > 0 {
		name = fmt.Sprintf("__launch_bounds__(%d, %d)", threads, blocks)
	}
	w.edited(name, false, text, err)
}

// fastFunctions calls approximate functions at the lines of the advice, and everywhere.
func (w *writer) fastFunctions(lines []int) {
	if len(lines) > 0 {
		text, err := w.source.FastFunctions(lines)
		w.edited("approximate functions at "+w.places(lines), true, text, err)
	}
	text, err := w.source.FastFunctions(nil)
	w.edited("approximate functions", true, text, err)
}

func (w *writer) fastMath(lines []int) {
	w.fastFunctions(lines)
	w.add(Candidate{Name: fastMathFlag, Flags: []string{fastMathFlag}, Rounds: true})
}

// floatConstants writes single-precision constants at the lines of the advice, and everywhere.
func (w *writer) floatConstants(lines []int) {
	if len(lines) > 0 {
		text, err := w.source.FloatConstants(lines)
		w.edited("float constants at "+w.places(lines), true, text, err)
	}
	text, err := w.source.FloatConstants(nil)
	w.edited("float constants", true, text, err)
}

// places names lines, the first of many.
func (w *writer) places(lines []int) string {
	const shown = 3
	var list []string
	for _, line := range lines[:min(shown, len(lines))] {
		list = append(list, w.at(line))
	}
	if len(lines) > shown {
		list = append(list, "…")
	}
	return strings.Join(list, ", ")
}

func (w *writer) inline() {
	f := w.advice.Match.Scope.Func
	if f == nil || f.Function == nil {
		return
	}
	name := SourceName(f.Function.Demangled)
	text, err := w.source.Inline(name)
	w.edited("__forceinline__ "+name, false, text, err)
}

// shape adds the launch of another shape that the advice is about, where the threads are as many.
func (w *writer) shape() {
	c, l := w.advice.Match.Change, w.program.Launch
	if c == nil || c.Grid == [3]int{} || c.Streams != nil || volume(c.Grid)*volume(c.Block) != volume(l.Grid)*volume(l.Block) {
		return
	}
	w.add(Candidate{Name: fmt.Sprintf("grid %s, block %s", dimensions(c.Grid), dimensions(c.Block)), Grid: c.Grid, Block: c.Block})
}

func volume(d [3]int) int { return max(1, d[0]) * max(1, d[1]) * max(1, d[2]) }

func dimensions(d [3]int) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }

// SourceName is the name by which the source defines a function: its demangled name without namespaces, template arguments and parameters.
func SourceName(demangled string) string {
	name := demangled
	if i := strings.IndexAny(name, "<("); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndex(name, "::"); i >= 0 {
		name = name[i+2:]
	}
	return name[strings.LastIndexByte(name, ' ')+1:]
}
