package advisor

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// warpBalance matches the stalls at block barriers before which only some of the warps have work: the others wait for them.
type warpBalance struct{}

func (warpBalance) Name() string { return "warp-balance" }
func (warpBalance) Class() Class { return StallElimination }

func (warpBalance) Match(in *Input) []*Match {
	var blames []*blamer.Blame
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if b.Detail == blamer.SynchronizationStall && in.Inst(b.Def).Op == sass.BAR {
			blames = append(blames, b)
		}
	}
	if len(blames) == 0 {
		return nil
	}
	if m := in.withinWarps(blames); m != nil {
		return m
	}
	if solo := in.solo(); len(solo) > 0 {
		return in.soloMatches(&Change{Streams: &Streams{Solo: solo}}, blames)
	}
	if in.hasRoles() {
		return nil
	}
	serial, by := in.serial(blames)
	if stores := in.chained(serial); len(stores) > 0 {
		return in.soloMatches(&Change{Gone: stores}, blames)
	}
	if in.counted() && len(serial) == 0 {
		return nil // all warps do the same: nobody waits for long but for what each of them waits for
	}
	c := newCollector(in)
	c.addUnexposed(in.kernelScope(), blames)
	matches := c.finish()
	for _, m := range matches {
		m.Suggestions = []string{
			fmt.Sprintf("Warps wait at the barrier of %s. Give every warp of the block the same amount of work between barriers; where only one warp has work, let the others do theirs of the next step.",
				in.places(m.defs(), 3)),
			"Where the threads that exchange data belong to one warp, __syncwarp() or shuffles are enough, as in the last steps of a reduction. Not where the data crosses warps in every step.",
		}
		if len(serial) > 0 {
			m.Least = leastRelieved
			m.Change = &Change{Streams: &Streams{Relieved: serial}, Gone: slices.DeleteFunc(m.allDefs(), in.bringsOver)}
			work := slices.DeleteFunc(nodesOf(serial), func(n blamer.Node) bool { return in.Inst(n).Op.Properties().Flow != sass.FlowNext })
			by = min(by, float64(ceilDiv(volume(in.Launch.Block), warpSize)))
			if len(work) == 0 {
				continue // nothing but branches
			}
			m.Suggestions[0] = fmt.Sprintf("Of the warps of a block 1 in %.0f does the work at %s, and the others wait at barriers (%s) or have ended. Let each warp do its part of it; of a sum, say, each warp adds up its values by shuffles, and one thread what these leave, with one atomic operation a block as now.",
				by, in.places(in.bySamples(work), 2), in.places(m.defs(), 3))
			if in.fillsShared(work) {
				m.Suggestions[0] = fmt.Sprintf("Of the warps of a block 1 in %.0f fills shared memory at %s, and the others wait at barriers (%s). Let all threads of the block do so: thread j takes the elements j, j + blockDim.x and so on, so that neighbours load neighbouring words, and no barrier but the one behind it is needed.",
					by, in.places(in.bySamples(work), 2), in.places(m.defs(), 3))
			}
		}
	}
	return matches
}

// fillsShared reports whether all that some instructions do is to copy to shared memory, as of tables.
func (in *Input) fillsShared(work []blamer.Node) bool {
	stores := false
	for _, n := range work {
		inst := in.Inst(n)
		p := inst.Op.Properties()
		switch {
		case inst.Op == sass.STS:
			stores = true
		case p.Writes != 0, p.Crosses, p.Floats() && !moves(inst):
			return false
		}
	}
	return stores
}

// hasRoles reports whether warps have roles that they were given registers for (PTX ISA, setmaxnreg): what one of them does alone is meant so, and they
// meet by transaction barriers.
func (in *Input) hasRoles() bool {
	return len(in.executedNodes(func(op sass.Op) bool { return op == sass.USETMAXREG })) > 0
}

// bringsOver reports whether a barrier brings data from warp to warp most times that the block meets there: then it stays, whoever does the work.
func (in *Input) bringsOver(barrier blamer.Node) bool {
	if in.Launch.Record == nil {
		return false
	}
	r := in.Launch.Record.Barrier(in.recordPlace(barrier))
	return r != nil && 2*r.Between > r.Episodes
}

// withinWarps matches the waits at barriers that only order what the lanes of each warp do: if these are most of the waits at barriers.
func (in *Input) withinWarps(blames []*blamer.Blame) []*Match {
	if in.Launch.Record == nil {
		return nil
	}
	c := newCollector(in)
	var own []*blamer.Blame
	all, most := 0.0, 0.0
	for _, b := range blames {
		all += b.Count
		if r := in.Launch.Record.Barrier(in.recordPlace(b.Def)); r != nil && r.Between == 0 && r.Within > 0 && !r.Partial {
			own = append(own, b)
			most += b.Count
		}
	}
	if most < all/2 {
		return nil
	}
	c.addUnexposed(in.kernelScope(), own)
	matches := c.finish()
	for _, m := range matches {
		m.Change = &Change{Gone: m.allDefs()}
		m.Suggestions = []string{
			fmt.Sprintf("At the barrier of %s the block waits for all its warps, but what it orders stays within each warp. Let the warps go on by themselves: __syncwarp() in place of __syncthreads(), or shuffles in place of shared memory.",
				in.places(m.defs(), 3)),
			"Not where another grid or block shape lets lanes of different warps exchange data there.",
		}
		if in.inOtherRounds(m.allDefs()) {
			m.Suggestions[0] += " Only in those rounds of the loop, which the compiler has unrolled, in which threads read nothing of other warps: keep __syncthreads() in the others."
		}
	}
	return matches
}

// inOtherRounds reports whether the lines of some barriers have others too, as loops that are unrolled in full do.
func (in *Input) inOtherRounds(barriers []blamer.Node) bool {
	return slices.ContainsFunc(in.executedNodes(func(op sass.Op) bool { return op == sass.BAR }), func(n blamer.Node) bool {
		return !slices.Contains(barriers, n) && slices.ContainsFunc(barriers, func(b blamer.Node) bool { return in.frame(b).Line > 0 && in.frame(b) == in.frame(n) })
	})
}

// solo returns the block barriers of the kernel if some of them order, some of the times that the block meets there, the lanes of one
// warp only: the last steps of a reduction.
func (in *Input) solo() []blamer.Node {
	if in.Launch.Record == nil {
		return nil
	}
	var all []blamer.Node
	found := false
	for _, r := range in.Launch.Record.Barriers {
		all = append(all, nodeOf(r.Place))
		found = found || r.Within > 0 && r.Episodes-r.Between >= r.Episodes/4
	}
	if !found || !slices.ContainsFunc(in.Launch.Record.Dependences, in.passesOn) {
		return nil
	}
	return all
}

// passesOn reports whether lanes of a warp pass a value on to each other from step to step: from round to round of a loop, or outside of
// loops. What they only pass on within each round can be shared out among warps by rounds.
func (in *Input) passesOn(d profiler.Dependence) bool {
	from := nodeOf(d.From)
	return d.Kind == profiler.FlowDependence && d.Party == profiler.SameWarp && in.codes[from.Code] != nil && (d.Carried || in.Loop(from) == nil) && !isAtomic(in.Inst(from).Op)
}

// chained returns the stores among instructions that few warps execute whose values a lane of the same warp loads by another of these
// instructions: steps that follow from each other, which no other warp can take over.
func (in *Input) chained(serial []Relieved) []blamer.Node {
	if in.Launch.Record == nil {
		return nil
	}
	few, stores := make(map[blamer.Node]bool), make(map[blamer.Node]bool)
	for _, t := range serial {
		few[t.At] = true
	}
	for _, d := range in.Launch.Record.Dependences {
		if from := nodeOf(d.From); few[from] && few[nodeOf(d.To)] && in.passesOn(d) {
			stores[from] = true
		}
	}
	return sortedKeys(stores)
}

// soloMatches matches the waits at barriers of which some are one warp's own.
func (in *Input) soloMatches(change *Change, blames []*blamer.Blame) []*Match {
	c := newCollector(in)
	c.addUnexposed(in.kernelScope(), blames)
	matches := c.finish()
	for _, m := range matches {
		m.Change = change
		m.Suggestions = []string{
			fmt.Sprintf("At the barrier of %s warps wait for steps that one warp does alone, as the last ones of a reduction. Let that warp finish by shuffles (__shfl_down_sync, __reduce_add_sync), without __syncthreads() and shared memory: five steps for 32 values. Better still, let each warp reduce its values by shuffles first, and one warp what these leave.",
				in.places(m.defs(), 3)),
			"Steps of one warp in shared memory without __syncthreads() need __syncwarp() between them.",
		}
	}
	return matches
}

// counted reports whether the profile tells how often instructions were executed.
func (in *Input) counted() bool {
	return slices.ContainsFunc(in.codes, func(c *codeSamples) bool { return c != nil && c.executions != nil })
}

// leastRelieved is what dividing the work of few warps among all of a block has to promise: what it takes to put the parts together is in no trial.
const leastRelieved = 1.05

// leastExplained is the least share of the waits at barriers that the work of few warps has to account for: while one works, each of the
// others waits as long. Below it they wait for something else that is not the same in all of them, as for memory.
const leastExplained = .25

// From mostWarps of a block's warps on work counts as done by all. Where the compiler has made predicates of a branch all warps execute
// what few threads do: below fewThreads of the threads these are of few warps, whatever lanes of each take part.
const (
	mostWarps  = .75
	fewThreads = .3
)

// serial returns the instructions that only some of the warps execute which meet at the barriers that are blamed, and the mean number of
// warps for each that does, by their samples. Without source counters there is no telling.
//
// What one warp does with all its lanes in one instruction cannot be divided; copies of it, as of a loop that is unrolled, can.
func (in *Input) serial(blames []*blamer.Blame) (list []Relieved, by float64) {
	type key struct {
		frame cubin.Frame
		op    sass.Op
	}
	copies, groups := make(map[key]float64), make(map[key]int)
	for code, c := range in.codes {
		for i := range in.Module.Codes[code].Insts {
			if c != nil && c.executions != nil && c.executions[i] > 0 {
				copies[key{in.frame(blamer.Node{Code: code, Inst: i}), in.Module.Codes[code].Insts[i].Op}]++
			}
		}
	}
	weight, spread := 0.0, 0.0
	for code, c := range in.codes {
		if c == nil || c.executions == nil {
			continue
		}
		for i := range c.executions {
			n := blamer.Node{Code: code, Inst: i}
			warps, around := in.comers(n, blames)
			met := in.meeting(n.Code, around, blames)
			if full := c.counters[i].threads / warpSize; around == in.Loop(n) && full < fewThreads*warps {
				warps = full
			}
			if op := in.Inst(n).Op; warps <= 0 || met <= 0 || warps >= mostWarps*met || op == sass.BAR || op.Properties().Class == sass.ClassBranch {
				continue
			}
			factor := min(warpSize, met/warps)
			if full := c.counters[i].threads / warpSize; around == in.Loop(n) && full >= fewThreads*warps && in.frame(n).Line > 0 {
				if factor = min(factor, copies[key{in.frame(n), in.Inst(n).Op}]); factor <= 1 {
					continue
				}
			}
			group := key{in.frame(n), in.Inst(n).Op}
			if _, met := groups[group]; !met {
				groups[group] = len(groups)
			}
			list = append(list, Relieved{n, factor, groups[group]})
			weight += c.total[i]
			spread += c.total[i] * factor
		}
	}
	waits := 0.0
	for _, b := range blames {
		waits += b.Count
	}
	if weight == 0 || spread-weight < leastExplained*waits {
		return nil, 0
	}
	return list, spread / weight
}

// comers returns how often warps come to an instruction, or to the outermost loop around it that has none of the barriers, and the loop
// around that.
func (in *Input) comers(n blamer.Node, blames []*blamer.Blame) (warps float64, around *cfg.Loop) {
	c := in.codes[n.Code]
	warps, around = c.executions[n.Inst], in.Loop(n)
	for around != nil && in.meeting(n.Code, around, blames) == 0 {
		rounds, known := in.TripCount(n.Code, around)
		if !known {
			return 0, around
		}
		warps, around = c.executions[c.graph.Blocks[around.Header].First]/rounds, around.Parent
	}
	return warps, around
}

// meeting returns how often warps come to the barriers that are blamed whose innermost loop is the one given.
func (in *Input) meeting(code int, around *cfg.Loop, blames []*blamer.Blame) float64 {
	most := 0.0
	for _, b := range blames {
		if b.Def.Code == code && in.Loop(b.Def) == around {
			most = max(most, in.counts(b.Def).executions)
		}
	}
	return most
}

// bySamples sorts instructions by their samples, the most first.
func (in *Input) bySamples(nodes []blamer.Node) []blamer.Node {
	slices.SortStableFunc(nodes, func(a, b blamer.Node) int {
		return cmp.Compare(in.codes[b.Code].total[b.Inst], in.codes[a.Code].total[a.Inst])
	})
	return nodes
}

// nodesOf returns where relieved instructions are.
func nodesOf(list []Relieved) (nodes []blamer.Node) {
	for _, t := range list {
		nodes = append(nodes, t.At)
	}
	return nodes
}
