package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// lowActivity is the share of active lanes below which a loop or function counts as divergent.
const lowActivity = 0.7

// divergenceReduction matches code that warps execute with few of their lanes. A warp goes the ways of its lanes one after the
// other, so that with full warps the samples there, stalls included, would be fewer by the share of idle lanes.
type divergenceReduction struct{}

func (divergenceReduction) Name() string { return "divergence-reduction" }
func (divergenceReduction) Class() Class { return StallElimination }

func (divergenceReduction) Match(in *Input) []*Match {
	if in.language == triton {
		if masked := in.maskedLanes(); masked != nil {
			return masked
		}
	}
	c := newCollector(in)
	var idle []blamer.Node
	for code, s := range in.codes {
		if s == nil || s.counters == nil {
			continue
		}
		for inst := range s.counters {
			if share := in.idleLanes(code, inst); share > 0 && !in.ofOneLane(code, inst) && !in.inHelper(code, inst) {
				n := blamer.Node{Code: code, Inst: inst}
				in.addSamples(c, n, share*(1-in.awaitedByAll(n)))
				if op := in.Inst(n).Op; op != sass.BAR && !movesGlobal(op) {
					idle = append(idle, n)
				}
			}
		}
	}
	var matches []*Match
	for _, m := range c.finish() {
		m.Spares = IssueSlots | SharedMemory
		m.Change = &Change{Packed: idle}
		if m.Suggestions = in.fillLanes(m); len(m.Suggestions) > 0 {
			if in.partedWithin(m) {
				m.Least = leastAsBits
			}
			matches = append(matches, m)
		}
	}
	return matches
}

// inHelper reports whether an instruction is of a function of the compiler's, whose lanes nobody can fill but by other calls of it: what calls it
// has samples of its own.
func (in *Input) inHelper(code, inst int) bool {
	c := in.Module.Codes[code]
	f := c.FunctionAt(c.Insts[inst].PC)
	return f != nil && f.Kind == cubin.InternalFunction
}

// fillLanes says how the idle lanes of a match get work, by what keeps them idle at its first place; nil where that has been slower.
func (in *Input) fillLanes(m *Match) []string {
	code, l := m.Hotspots[0].Use.Code, in.Loop(m.Hotspots[0].Use)
	if l == nil {
		return []string{
			fmt.Sprintf("At %s warps run with few of their 32 lanes. Give the threads of a warp the same path: where the ways are short, compute all and select (?:), without branches; else sort or bucket the work by kind, move the rare case into a pass of its own, "+
				"make loops of a warp's threads equally long.", in.places(m.uses(), 3)),
			"Where lanes finish early, let them take the next piece of work (a queue, a grid-stride loop over items) instead of waiting for the slowest. Not where sorting costs more than the idle lanes.",
		}
	}
	at := in.scopePlace(in.loopScope(code, l))
	if in.partedWithin(m) {
		if in.activeLanes(m) > fewLanes && in.decidedByLoads(code, l) {
			return nil
		}
		return []string{
			fmt.Sprintf("In the loop at %s all lanes go through the rounds, but few of a warp do what stands at %s in the same one. Let each thread first find out in which of the next 32 rounds it has to, as bits of a register, and then go through its bits in a loop of its own (__ffs), so that lanes do that side by side whose rounds are different ones; or sort items by what decides it.%s",
				at, in.places(m.uses(), 3), in.bitsOfLoops(m, code, l)),
			"Where both ways are short, compute both and select. Not where a round needs what the one before has computed, or where the test costs as much as what it saves.",
		}
	}
	few := fmt.Sprintf("In the loop at %s warps run with few of their 32 lanes, ", at)
	if in.fewEnter(code, l) {
		if in.ownWords(code, l) > mostListed {
			return nil
		}
		return []string{
			few + "as most threads have nothing to do there and leave before. Let a block first collect what there is to do in a list in shared memory, if it has room for one (each item once, by one of the threads that look at it, which finds its place by __ballot_sync and __popc, or by atomicAdd; all threads of the block search), and then let full warps go through the list, with as many lanes an item as it has rounds. No thread may return before the __syncthreads() around that.",
			"Not more threads for all items, of which most would only leave. Where few blocks have anything to do, make the list one for the whole grid, by the launch before.",
		}
	}
	how := "Let several lanes share what one does, as many as an item has rounds for (2, 4, 8 or 16 lanes an item, whose results are put together by shuffles)"
	// A thread can take several items one after the other where the GPU holds far fewer blocks than there are.
	switch share, next := in.canShare(code, l), in.hasManyWaves(1); {
	case share && next:
		how += ", or let a lane that is done take the next item"
	case next:
		how = "Let a lane that is done take the next item"
	case !share && in.unevenRounds(code, l):
		return nil
	}
	return []string{
		few + "as some threads have fewer rounds than others. " + how + ".",
		"Sorting items by their number of rounds scatters what neighbouring lanes access: it pays only where the loop hardly accesses memory.",
	}
}

// partedWithin reports whether all lanes go through the rounds of the loop that a match is about, and few do what it is about in the same one.
func (in *Input) partedWithin(m *Match) bool {
	first := m.Hotspots[0].Use
	l := in.Loop(first)
	return l != nil && in.idleLanes(first.Code, in.codes[first.Code].graph.Blocks[l.Header].First) == 0
}

// leastAsBits is what rounds as bits of a register have to promise: 1.03x tried was 1.00x, and 1.62x 1.07x, as a bit tells only that, not what the round
// had computed.
const leastAsBits = 1.08

// bitsOfLoops says what else it takes to go through the bits of rounds: loops around these of which all rounds are bits of one word, and a loop inside
// that is to be one with the loop over the bits. Where lanes go through that side by side they part again (1.62x tried was 1.07x, and 1.41x with one
// loop).
func (in *Input) bitsOfLoops(m *Match, code int, l *cfg.Loop) (also string) {
	around := l
	rounds, known := in.TripCount(code, l)
	for p := l.Parent; known && p != nil; p = p.Parent {
		n, counted := in.TripCount(code, p)
		if !counted || n < 2 || rounds*n > warpSize {
			break
		}
		rounds, around = rounds*n, p
	}
	if around != l {
		also += fmt.Sprintf(" Take the rounds of the loop at %s together, %.0f in all.", in.scopePlace(in.loopScope(code, around)), rounds)
	}
	for _, n := range m.uses() {
		if inner := in.Loop(n); n.Code == code && inner != nil && inner != l && l.Contains(inner.Header) {
			return also + fmt.Sprintf(" Make the loop at %s one with the loop over the bits: a lane that is through with its rounds of it takes its next bit at once, and both have one body.", in.scopePlace(in.loopScope(code, inner)))
		}
	}
	return also
}

// fewLanes is the share of a warp's lanes up to which it pays to find out first in which rounds of a loop a thread has something to do: the tests
// of all rounds, and what they load, are then made twice. A default; with 19 of 32 lanes a search of shortest paths was 0.92x.
const fewLanes = .35

// decidedByLoads reports whether branches of a loop follow from what its rounds load.
func (in *Input) decidedByLoads(code int, l *cfg.Loop) bool {
	f, found := in.flowOf(code, l), false
	in.eachInst(code, l, func(i int) {
		found = found || f.inst(i).Op.Properties().Flow == sass.FlowJump && f.inst(i).Conditional() && f.loads(i)
	})
	return found
}

// unevenRounds reports whether lanes leave a loop one after the other, not all of them for one reason.
func (in *Input) unevenRounds(code int, l *cfg.Loop) bool {
	origins := perPlace(in, func(graphs []*cfg.Graph, k *cubin.Kernel) (map[branch.Place]branch.Origins, error) {
		found, err := branch.Find(in.Module, graphs, k)
		of := make(map[branch.Place]branch.Origins)
		for _, b := range found {
			of[branch.Place{Code: b.Code, Inst: b.Inst}] = b.Origins
		}
		return of, err
	})
	return slices.ContainsFunc(in.flowOf(code, l).exits(), func(i int) bool {
		return origins[blamer.Node{Code: code, Inst: i}]&(branch.Thread|branch.Data|branch.Warp) != 0
	})
}

// canShare reports whether several lanes can share the rounds of a loop: they do not need each other, and are not mostly waits for memory. What
// a thread loads for its rounds is under way together, which it no longer is when lanes have one or two of them (1.67x tried was 0.78x by hand
// for the edges of a graph).
func (in *Input) canShare(code int, l *cfg.Loop) bool {
	if ordered, _ := in.ordered(code, l); ordered {
		return false
	}
	waits := 0.0
	in.eachInst(code, l, func(i int) {
		for _, b := range in.byUse[blamer.Node{Code: code, Inst: i}] {
			if b.Detail == blamer.GlobalMemory {
				waits += b.Count
			}
		}
	})
	return waits < in.samplesInLoop(code, l)/2
}

// activeLanes is the share of the lanes that execute what a match is about.
func (in *Input) activeLanes(m *Match) float64 {
	threads, executions := 0.0, 0.0
	for _, n := range m.uses() {
		k := in.counts(n)
		threads, executions = threads+k.threads, executions+k.executions
	}
	return threads / max(1, warpSize*executions)
}

// mostListed is how many values of its own an item may have in a list in shared memory: each lane that works at it loads them from there. Triangles of
// 37 words were 0.6x, nodes with their component 1.2x to 1.4x (1.5x tried).
const mostListed = 16

// ownWords counts the registers that a loop reads and that were written before it, in which threads have values of their own.
func (in *Input) ownWords(code int, l *cfg.Loop) int {
	u := in.uniformity(true)
	own := make(map[sass.Resource]bool)
	in.eachInst(code, l, func(i int) {
		for _, r := range in.Module.Codes[code].Insts[i].Uses(nil) {
			if !isGeneral(r) || own[r] {
				continue
			}
			for _, d := range in.defsWithin(nil, code, i, r) {
				if !l.Contains(in.codes[code].graph.Block(d).ID) && !u.uniform(blamer.Node{Code: code, Inst: d}) {
					own[r] = true
				}
			}
		}
	})
	return len(own)
}

// fewEnter reports whether a loop has few of a warp's lanes from the beginning, not for their rounds.
func (in *Input) fewEnter(code int, l *cfg.Loop) bool {
	const nearly = .8
	c := in.codes[code]
	activity := func(inst int) float64 {
		k := c.counters[inst]
		return k.threads / max(1, k.executions)
	}
	entering := 0.0
	for _, p := range c.graph.Blocks[l.Header].Preds {
		if !l.Contains(p) {
			entering = max(entering, activity(c.graph.Blocks[p].First))
		}
	}
	return entering > 0 && entering < lowActivity*warpSize && activity(c.graph.Blocks[l.Header].First) >= nearly*entering
}

// ofOneLane reports whether one lane of a warp executes an instruction, as is meant: once, at the end of what the warp did together, or in loops that
// start copies of the copy engine or products of tensor memory, which one thread does for all.
func (in *Input) ofOneLane(code, inst int) bool {
	k := in.codes[code].counters[inst]
	l := in.Loop(blamer.Node{Code: code, Inst: inst})
	return k.threads <= k.executions && (l == nil || in.startsCopies(code, l))
}

// startsCopies reports whether a loop, or one around it, starts copies or products that complete by themselves.
func (in *Input) startsCopies(code int, l *cfg.Loop) (found bool) {
	for ; l != nil && !found; l = l.Parent {
		in.eachInst(code, l, func(i int) {
			a := in.Module.Codes[code].Insts[i].Op.Properties().Async
			found = found || a == sass.AsyncBulk || a == sass.AsyncTensor
		})
	}
	return found
}

// idleLanes is the share of lanes that an instruction leaves idle where it is in divergent code: of the lanes with which its
// block is executed. Guards, as of the threads at the end of an array, do not count.
func (in *Input) idleLanes(code, inst int) float64 {
	b := in.Block(blamer.Node{Code: code, Inst: inst})
	if b == nil {
		return 0
	}
	insts := in.Module.Codes[code].Insts
	for i := b.First; i <= b.Last; i++ {
		n := in.codes[code].counters[i]
		if !insts[i].Guard.Always() || n.executions == 0 {
			continue
		}
		if activity := n.threads / (warpSize * n.executions); n.threads > 0 && activity < lowActivity {
			return 1 - max(activity, in.leastWarps(code, b)/n.executions)
		}
		return 0
	}
	return 0
}

// awaitedByAll is the share of an instruction's samples that are waits for what full warps have asked for before they diverged: it
// takes as long to come however few lanes wait.
func (in *Input) awaitedByAll(n blamer.Node) float64 {
	sum := 0.0
	for _, b := range in.byUse[n] {
		if isDependence(b.Detail) && in.idleLanes(b.Def.Code, b.Def.Inst) == 0 {
			sum += b.Count
		}
	}
	return min(1, sum/max(1, in.codes[n.Code].total[n.Inst]))
}

// leastWarps is how many warps at least execute a block that some threads of each thread block go to: one, each time that the
// thread block comes by. How often it does the blocks on the way there tell, which more of its warps execute.
func (in *Input) leastWarps(code int, b *cfg.Block) float64 {
	c := in.codes[code]
	warps, visits := float64(ceilDiv(volume(in.Launch.Block), warpSize)), 0.0
	for at := b.Idom; at >= 0; at = c.graph.Blocks[at].Idom {
		visits = max(visits, c.counters[c.graph.Blocks[at].Last].executions/warps)
	}
	return min(visits, c.counters[b.First].executions)
}

// addSamples enters a share of the samples of an instruction.
func (in *Input) addSamples(c *collector, n blamer.Node, share float64) {
	pc := in.Module.Codes[n.Code].Insts[n.Inst].PC
	for _, s := range in.Launch.At(n.Code, pc) {
		if in.Inst(n).Op != sass.EXIT {
			c.addShare(in.functionScope(n), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: float64(s.Count), Latency: float64(s.Latency)}, share)
		}
	}
}
