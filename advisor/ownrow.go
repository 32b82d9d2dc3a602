package advisor

import (
	"fmt"
	"math"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// A thread that compares an item of its own with many others, as a point with centers or neighbours, reads the item again for each of them, as long as
// the number of its words is unknown to the compiler: registers have no index. Where the number is a constant, the words stay in registers.

// leastAgain is the share of what a load reads that the same thread has read in an earlier round from which on it counts as such a load: one in eight
// rounds at most reads something new.
const leastAgain = 7. / 8

// ownItem matches loads by which a thread reads the same few words in each round of a loop, in a loop of few rounds in it.
func (in *Input) ownItem() []*Match {
	again, code, words := make(map[blamer.Node]bool), -1, 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		r := in.recorded(n)
		if r == nil || in.Loop(n) == nil || code >= 0 && n.Code != code || r.Stored > 0 || float64(r.InEarlierRound[profiler.SameThread]) < leastAgain*float64(r.Bytes) {
			continue
		}
		if x := in.counts(n); x.threads < lowActivity*warpSize*x.executions {
			continue
		}
		again[n], code = true, n.Code
		first := 1 - float64(r.InEarlierRound[profiler.SameThread])/float64(r.Bytes)
		words += float64(in.words(n)) * max(1, in.counts(n).threads/(warpSize*in.warps())*first) // of a grid whose warps do not all work a part alone counts
	}
	if len(again) == 0 || math.Round(words) > mostKept || words < 1 {
		return nil
	}
	lines, constant := in.innerLines(code, again)
	if !constant || len(lines) == 0 {
		return nil
	}
	c, change := newCollector(in), &Change{Gone: sortedKeys(again), Registers: min(in.mostRegisters(), in.Launch.Facts.Registers+int(words+.5))}
	for _, at := range lines {
		counting := in.counting(code, at)
		for _, n := range counting {
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: in.countingSamples(n)})
		}
		change = change.with(in.inFull(code, counting))
	}
	goes := func(n blamer.Node) bool { return again[n] }
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; again[b.Def] && isStall(b) && b.Detail != blamer.InstructionFetch && !in.awaitsOthers(b, goes) {
			c.add(in.kernelScope(), b)
		}
	}
	c.addIssued(sortedKeys(again))
	matches := c.finish()
	for _, m := range matches {
		m.Variant, m.Change, m.Spares = "own item", change, L2|DRAM|IssueSlots|Sectors
		m.Suggestions = []string{
			fmt.Sprintf("A thread reads the same %.0f words again in each round, at %s. Read them once before the loop, into an array of constant size (registers), and make the number of rounds of the loop at %s a constant (a template parameter, constexpr), so that it is unrolled in full (#pragma unroll): only then does an array stay in registers.",
				words, in.places(sortedKeys(again), 3), in.placeOf(lines[0], blamer.Node{Code: code})),
			"For several numbers instantiate the kernel for each, and keep this one for all others. Not where there are more words than registers.",
		}
	}
	return matches
}

// innerLines are the lines of the loops of few rounds that some loads are in, or were before the compiler laid their rounds one behind the other; constant
// is false where one of them does not run the same number of rounds each time.
func (in *Input) innerLines(code int, loads map[blamer.Node]bool) (lines []cubin.Frame, constant bool) {
	const few = 32
	met := make(map[cubin.Frame]bool)
	for _, l := range in.codes[code].graph.Loops {
		at := in.scopeFrame(in.loopScope(code, l))
		if at.Line == 0 || met[at] || !in.isLeaf(code, l) || l.Parent == nil {
			continue
		}
		within := false
		for n := range loads {
			within = within || in.Loop(n) == l || in.Loop(n) == l.Parent
		}
		if !within {
			continue
		}
		met[at] = true
		rounds, copies := in.roundsOfLine(code, at)
		executed := false
		for _, x := range in.loopsOfLine(code, at) {
			executed = executed || in.codes[code].executions[in.codes[code].graph.Blocks[x.Header].First] > 0
		}
		switch {
		case executed && (rounds == 0 || rounds > few || copies < 2):
			for n := range loads {
				if in.scopeFrame(in.loopScope(code, in.Loop(n))) == at {
					return nil, false
				}
			}
		case len(in.counting(code, at)) > 0:
			lines = append(lines, at)
		}
	}
	return lines, true
}
