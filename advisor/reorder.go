package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// codeReordering matches global memory and execution dependency stalls whose use follows the def closely: code from
// elsewhere in the innermost loop, or in the function outside loops, could stand between them.
type codeReordering struct{}

func (codeReordering) Name() string { return "code-reordering" }
func (codeReordering) Class() Class { return LatencyHiding }

func (codeReordering) Match(in *Input) []*Match {
	c := newCollector(in)
	sizes := map[Scope]int{}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if !isHideable(b.Detail) || b.Def.Code != b.Use.Code || b.Distance == 0 {
			continue
		}
		s := in.functionScope(b.Use)
		if l := in.Loop(b.Use); l != nil {
			s = in.loopScope(b.Use.Code, l)
		}
		if _, ok := sizes[s]; !ok {
			sizes[s] = in.instructionsIn(s)
		}
		if !farApart(b, sizes[s]) {
			c.add(s, b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		within, ahead := in.hidden(m.Scope, freedom{}), 0.0
		loads := in.ahead(m.Scope.Code, m.Scope.Loop)
		c := in.registersAhead(m.Scope.Code, m.Scope.Loop, loads)
		if c != nil {
			ahead = in.loadedAhead(m, loads)
		}
		m.hide(max(within, ahead))
		m.Change = &Change{Reordered: true}
		if ahead > within && !in.heldByStores(m) {
			m.Change = c
			if in.roundsTogether(m.Scope.Loop, m.Hotspots[0].Def) > 1 {
				m.Least = leastTurned
			}
		}
		m.Suggestions = in.reorderSuggestions(m)
		if m.Change.Reordered {
			m.Suggestions = append(m.Suggestions, "What a what-if run tries is the machine code in another order, as gpa rewrite --reorder makes it. Compilers order code themselves: see what they make of the change (gpa compare).")
		}
	}
	return append(matches, in.furtherProducts()...)
}

// leastTurned is the speedup from which on it is worth turning a loop that the compiler has unrolled: a loop turned by hand it unrolls
// less (1.02x and 1.06x were tried and 0.75x and 0.96x achieved so, 0.98x with as many loads together as before).
const leastTurned = 1.1

// loadedAhead is how many samples go when those loads of a loop that can be are issued a round ahead, so that the round before works in their
// time: that of its instructions which do not stand between load and use already. Nothing is counted where the loads need what they
// have loaded before, and in loops with barriers for data that may change across them; where the GPU copies tiles asynchronously, that
// is the better advice for such loops.
func (in *Input) loadedAhead(m *Match, can []blamer.Node) float64 {
	l, code := m.Scope.Loop, m.Scope.Code
	if l == nil || !in.isLeaf(code, l) {
		return 0
	}
	if rounds, known := in.TripCount(code, l); known && rounds < 2 || in.hasBarrier(code, l) && (in.Model.Arch >= int(sass.SM80) || in.mayChange(code, l)) {
		return 0
	}
	waits, rest, ahead, most, size := 0.0, 0.0, map[blamer.Node]bool{}, &blamer.Blame{}, in.instructionsIn(m.Scope)
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		rest += in.codes[code].total[i]
		for _, b := range in.byUse[n] {
			sameRound := b.Def.Code == code && in.Loop(b.Def) == l && b.Def.Inst < b.Use.Inst && !farApart(b, size)
			if b.Detail != blamer.GlobalMemory || !sameRound || !slices.Contains(can, b.Def) {
				continue
			}
			waits += b.Count
			ahead[b.Def] = true
			if b.Count > most.Count {
				most = b
			}
		}
	})
	for i := most.Def.Inst + 1; i < most.Use.Inst; i++ {
		rest -= in.codes[code].total[i]
	}
	steps := 0.0 // what the addresses of the next round take in this one
	for _, n := range sortedKeys(ahead) {
		steps += in.samplesOf(in.counts(n).executions, aheadSteps*fixedLatency)
	}
	return max(0, min(waits, rest-waits)-steps)
}

// heldByStores reports whether most of the samples of a match wait for loads that the compiler itself would issue earlier if it knew that
// no store goes where they read: then that is the advice.
func (in *Input) heldByStores(m *Match) bool {
	again, behind := in.reloads()
	in.dropWritten(again)
	in.dropWritten(behind)
	held := 0.0
	for _, h := range m.Hotspots {
		if again[h.Def] || behind[h.Def] {
			held += h.Samples
		}
	}
	return held > m.Samples/2
}

// mayChange reports whether global data that a loop loads are stored to while the launch runs, or nothing tells.
func (in *Input) mayChange(code int, l *cfg.Loop) (changes bool) {
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		if in.Inst(n).Op == sass.LDG && in.Loop(n) == l {
			written, known := in.written(n)
			changes = changes || written || !known
		}
	})
	return changes
}

// aheadSteps is the number of instructions that find the address of a round ahead, each of which needs the one before: two that keep
// it within the last round, one that multiplies, one that extends the sign, and two that add the 64-bit address, less the addition that
// led from round to round. The code that NVIDIA's compiler makes has them.
const aheadSteps = 5

// farApart reports whether at least half of the scope's instructions stand between def and use already: then hardly
// anything is left to put there (section 6.1 of the paper).
func farApart(b *blamer.Blame, scope int) bool { return 2*b.Distance > scope }

// turnedTogether says how to turn a loop that the compiler has unrolled, with the loads of several rounds together.
func (in *Input) turnedTogether(m *Match) string {
	top := m.Hotspots[0]
	if m.Scope.Loop == nil || !isLoad(top.Detail) {
		return ""
	}
	n := in.roundsTogether(m.Scope.Loop, top.Def)
	if n < 2 {
		return ""
	}
	if !in.loadedInOneBlock(m.Scope.Loop, top.Def) {
		return fmt.Sprintf(" The compiler has unrolled it, but each iteration's loads stand behind the tests of the one before: read the values of the next %d into variables before the first of their tests, and join the tests of an iteration to one, behind the arithmetic.", n)
	}
	return fmt.Sprintf(" The compiler has unrolled it, and has the loads of %d iterations under way together: keep that, by reading the values of the next %d at a time.", n, n)
}

// loadedInOneBlock reports whether the loads of the rounds that a compiler has put together stand in one basic block, so that none waits for a branch of
// another round.
func (in *Input) loadedInOneBlock(l *cfg.Loop, load blamer.Node) bool {
	one := true
	in.eachInst(load.Code, l, func(i int) {
		if n := (blamer.Node{Code: load.Code, Inst: i}); in.loadsLike(load, n) {
			one = one && in.Block(n) == in.Block(load)
		}
	})
	return one
}

func (in *Input) reorderSuggestions(m *Match) []string {
	top := m.Hotspots[0]
	def, use := in.place(top.Def), in.place(top.Use)
	var out []string
	before := "before working on those of this one"
	switch {
	case isAtomic(in.Inst(top.Def).Op):
		out = append(out, fmt.Sprintf("The result of the atomic operation at %s is needed at %s, %s later: do first what it does not depend on, behind the atomic operation.", def, use, instructions(top.Distance)))
		before = "behind the atomic operation and before the first use of its result"
	case isLoad(top.Detail):
		out = append(out, fmt.Sprintf("Load earlier: the value loaded at %s is used at %s, only %s later.", def, use, instructions(top.Distance)))
	case def == use:
		out = append(out, fmt.Sprintf("At %s each step needs the result of the one before, %s later: split the expression into independent parts, or work on two elements at a time.", def, instructions(top.Distance)))
	default:
		out = append(out, fmt.Sprintf("Put independent work between %s and %s, where the result is needed %s later.", def, use, instructions(top.Distance)))
	}
	if m.Scope.Kind == LoopScope {
		out = append(out, fmt.Sprintf("In the loop at %s, read the values of the next iteration %s (software pipelining), before any __syncthreads between: in two iterations a round, with variables of their own each, as a copy at the end of a round waits for what was read. Not where the registers for them leave room for fewer warps.%s", in.scopePlace(m.Scope), before, in.turnedTogether(m)+in.divisionFirst(m.Scope.Code, m.Scope.Loop)))
	} else {
		out = append(out, "Move all loads of the function to its beginning and do address arithmetic that does not depend on them in their shadow. Not where the registers for them leave room for fewer warps.")
	}
	return out
}

func isLoad(d blamer.DetailedReason) bool {
	return d == blamer.GlobalMemory || d == blamer.TextureMemory || d == blamer.SharedMemory
}

func instructions(n int) string {
	if n == 1 {
		return "one instruction"
	}
	return fmt.Sprintf("%d instructions", n)
}
