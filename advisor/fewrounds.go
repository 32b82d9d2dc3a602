package advisor

import (
	"fmt"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// A loop of few rounds whose number the compiler does not know is mostly control: the compiler makes a loop of several rounds at a time and
// others for those that are left, each with its tests. Where the number is the same every time it may be a constant, and all of that goes.

// leastControl is the least share of the samples that such control must have to be worth a constant.
const leastControl = .1

// fewRounds matches the control of such loops.
func (in *Input) fewRounds() (matches []*Match) {
	for code, c := range in.codes {
		if c == nil || c.executions == nil {
			continue
		}
		done := make(map[cubin.Frame]bool)
		for _, l := range c.graph.Loops {
			s := in.loopScope(code, l)
			at := in.scopeFrame(s)
			if at.Line == 0 || done[at] || l.Parent == nil && len(c.graph.Loops) == 1 || !in.isLeaf(code, l) {
				continue
			}
			done[at] = true
			if m := in.controlOf(s, at); m != nil {
				matches = append(matches, m)
			}
		}
	}
	return matches
}

// controlOf matches the control of the loops of one line; nil where these do not run the same number of rounds each time, or more than a
// few, or where it takes hardly any time.
func (in *Input) controlOf(s Scope, at cubin.Frame) *Match {
	const few = 32
	rounds, copies := in.roundsOfLine(s.Code, at)
	if copies < 2 || rounds == 0 {
		rounds = in.roundsBeside(s.Code, s.Loop)
	}
	if rounds < 1 || rounds > few {
		return nil // the compiler unrolls what it does not know; what is one loop it knows, or cannot unroll
	}
	m := &Match{Scope: s, Scheduled: true, Spares: IssueSlots, Variant: "constant count", Change: in.inFull(s.Code, in.counting(s.Code, at))}
	m.Scope.Frame = at
	for _, n := range m.Change.Gone {
		m.Gone += in.countingSamples(n)
	}
	control := m.Gone
	around := s.Loop.Parent
	if n, alike := in.roundsAlike(s.Code, around, few); alike && n*rounds <= mostInFull {
		in.unrolledAround(m, s.Code, around)
	}
	m.Samples = m.Gone
	if m.Gone < leastControl*in.Total {
		return nil
	}
	m.Suggestions = []string{
		fmt.Sprintf("The loop at %s runs the same few rounds each time, but the compiler does not know how many: to count them and to lead to the code for what is left takes %.0f%% of the samples. Make the number a constant (constexpr, a template parameter, a macro), so that the loop is unrolled in full and offsets are part of the accesses.",
			in.scopePlace(s), 100*m.Gone/in.Total),
		"For several numbers instantiate the kernel for each, and keep this one for all others.",
	}
	if m.Gone > control {
		m.Suggestions[0] = fmt.Sprintf("The loop at %s runs the same few rounds each time, and so does the one around it at %s, but the compiler does not know how many: it loads for some rounds, waits, and loads for the next ones. Make the numbers constants (constexpr, a template parameter, a macro), so that both loops are unrolled in full (#pragma unroll), the loads of several rows are under way together, and offsets are part of the accesses.",
			in.scopePlace(s), in.scopePlace(in.loopScope(s.Code, around)))
	}
	return m
}

// nearlyWhole reports whether a mean is a whole number, as where all that it is of are the same.
func nearlyWhole(n float64) bool { return math.Abs(n-math.Round(n)) <= .01*n }

// roundsAlike reports whether a loop makes the same number of rounds each time, up to a few.
func (in *Input) roundsAlike(code int, l *cfg.Loop, few float64) (rounds float64, alike bool) {
	if l == nil {
		return 0, false
	}
	n, known := in.TripCount(code, l)
	return n, known && n >= 2 && n <= few && nearlyWhole(n) && in.wholeWarps(code, l)
}

// mostInFull is how many rounds two loops that are unrolled in full may have together: windows up to 15 by 15, whose code caches still hold.
const mostInFull = 256

// unrolledAround adds to a constant count what it brings that the loop around, a window's other dimension, is unrolled as well: the loads of its rounds
// are under way together, as far as there are registers for them.
func (in *Input) unrolledAround(m *Match, code int, around *cfg.Loop) {
	rounds, known := in.TripCount(code, around)
	if !known || in.hasBarrier(code, around) || in.loadsBehindStores(code, around) {
		return
	}
	by, words, waits := min(unrollFactor, rounds), 0, 0.0
	in.eachInst(code, around, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		if in.Inst(n).Op != sass.LDG || in.counts(n).executions == 0 || in.waitsForRound(around, n) {
			return
		}
		m.Change.Overlapped = append(m.Change.Overlapped, Overlapped{n, by})
		words += in.words(n)
	})
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; b.Detail == blamer.GlobalMemory && slices.ContainsFunc(m.Change.Overlapped, func(o Overlapped) bool { return o.At == b.Def }) {
			waits += b.Count
		}
	}
	m.Change.Registers = min(in.mostRegisters(), in.Launch.Facts.Registers+min(int(by-1)*words, hoistedWords))
	m.Gone += waits * (1 - 1/by)
	m.Least = leastInFull
}

// leastInFull is what full unrolling of two loops has to promise: how early compilers load then is theirs to choose.
const leastInFull = 1.05

// roundsOfLine is how many rounds the loops make that the compiler has made of one line's, the same number each time, and how many such loops
// there are; 0 rounds where they are not the same for all.
func (in *Input) roundsOfLine(code int, at cubin.Frame) (rounds float64, copies int) {
	c := in.codes[code]
	for _, l := range in.loopsOfLine(code, at) {
		if !in.isLeaf(code, l) {
			continue
		}
		copies++
		if header := c.graph.Blocks[l.Header]; c.executions[header.First] > 0 {
			n, known := in.TripCount(code, l)
			if !known || !nearlyWhole(n) || !in.wholeWarps(code, l) {
				return 0, copies
			}
			rounds += n
		}
	}
	return rounds, copies
}

// roundsBeside is how many rounds of a loop, and of what the compiler has put beside it for rounds that are left, each round of the loop around makes, the
// same number each time, as far as the loads of its lines show it; 0 where it is not the same, or all of them stand in the loop.
func (in *Input) roundsBeside(code int, l *cfg.Loop) float64 {
	if l.Parent == nil {
		return 0
	}
	around := in.counts(blamer.Node{Code: code, Inst: in.codes[code].graph.Blocks[l.Parent.Header].First}).executions
	type access struct {
		frame cubin.Frame
		array uint64
	}
	within, arrays := make(map[access]float64), in.arrays()
	in.eachInst(code, l, func(i int) {
		if n := (blamer.Node{Code: code, Inst: i}); in.Inst(n).Op == sass.LDG && in.frame(n).Line > 0 {
			within[access{in.frame(n), arrays[n]}] = 0
		}
	})
	beside := false
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		at := access{in.frame(n), arrays[n]}
		if _, met := within[at]; !met || n.Code != code || in.Loop(n) != l && in.Loop(n) != l.Parent {
			continue
		}
		k := in.counts(n)
		if k.threads == 0 { // a round that is left has a predicate of its own
			continue
		}
		times := k.executions / max(1, around)
		if !nearlyWhole(times) || k.threads < lowActivity*warpSize*k.executions {
			return 0
		}
		within[at] += times
		beside = beside || in.Loop(n) == l.Parent
	}
	if !beside {
		return 0
	}
	rounds := math.Inf(1)
	for _, n := range within {
		rounds = min(rounds, n)
	}
	return math.Round(rounds)
}

// loopsOfLine returns the loops that the compiler has made of one line's.
func (in *Input) loopsOfLine(code int, at cubin.Frame) []*cfg.Loop {
	return slices.DeleteFunc(slices.Clone(in.codes[code].graph.Loops), func(l *cfg.Loop) bool { return in.scopeFrame(in.loopScope(code, l)) != at })
}

// counting returns what the loops of a line execute to count their rounds.
func (in *Input) counting(code int, at cubin.Frame) (nodes []blamer.Node) {
	for i := range in.Module.Codes[code].Insts {
		n := blamer.Node{Code: code, Inst: i}
		if in.frame(n) == at && isControl(in.Inst(n)) && in.codes[code].executions[i] > 0 {
			nodes = append(nodes, n)
		}
	}
	for _, l := range in.loopsOfLine(code, at) {
		if in.isLeaf(code, l) {
			for _, n := range in.addressing(code, l) {
				if !slices.Contains(nodes, n) {
					nodes = append(nodes, n)
				}
			}
		}
	}
	return nodes
}

// addressing returns what a loop computes for nothing but the addresses of what it loads, and for its exits: where its rounds are unrolled in full these
// are offsets of one address.
func (in *Input) addressing(code int, l *cfg.Loop) (nodes []blamer.Node) {
	f := in.flowOf(code, l)
	var addresses, values []int
	in.eachInst(code, l, func(i int) {
		switch inst := f.inst(i); {
		case inst.Op == sass.LDG:
			addresses = append(addresses, i)
		case !isControl(inst):
			values = append(values, i)
		}
	})
	for _, c := range f.cycles() { // sums of integers are values too
		if !f.isInduction(c) {
			values = append(values, c...)
		}
	}
	forValues := f.needs(values...)
	for _, i := range values {
		forValues[i] = true
	}
	for i := range f.needs(append(addresses, f.exits()...)...) {
		if n := (blamer.Node{Code: code, Inst: i}); i >= 0 && !forValues[i] && isControl(f.inst(i)) && in.codes[code].executions[i] > 0 {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, compareNodes)
	return nodes
}

// inFull is the change by which what counts rounds is gone, and with it the code for other numbers of rounds: what runs then lies together.
func (in *Input) inFull(code int, counting []blamer.Node) *Change {
	c := &Change{Gone: counting, Unplaced: slices.Clone(counting)}
	for i, executions := range in.codes[code].executions {
		if executions == 0 {
			c.Unplaced = append(c.Unplaced, blamer.Node{Code: code, Inst: i})
		}
	}
	return c
}

// countingSamples are the samples that go with an instruction that counts.
func (in *Input) countingSamples(n blamer.Node) float64 {
	return in.codes[n.Code].issued[n.Inst] + in.samplesAt(n, stall.Wait, stall.NotSelected, stall.BranchResolving)
}

// wholeWarps reports whether all lanes of the warps that come to a loop go through it.
func (in *Input) wholeWarps(code int, l *cfg.Loop) bool {
	k := in.counts(blamer.Node{Code: code, Inst: in.codes[code].graph.Blocks[l.Header].First})
	return k.threads >= lowActivity*warpSize*k.executions
}

// isControl reports whether an instruction counts, compares or branches: it neither accesses memory nor computes with floating-point numbers.
func isControl(inst *sass.Inst) bool {
	p := inst.Op.Properties()
	return p.Memory() == sass.NoSpace && !p.Crosses && p.Sync == sass.SyncNone && p.Flow != sass.FlowExit && p.Flow != sass.FlowCall && p.Flow != sass.FlowReturn && (!p.Floats() || moves(inst))
}

// moves reports whether an instruction only moves a value, as IMAD does where it multiplies by zero.
func moves(inst *sass.Inst) bool {
	return inst.Op.Properties().Does == sass.Moves || inst.Op.Vector().Properties().Does == sass.MultipliesAdds && multipliesByZero(inst)
}
