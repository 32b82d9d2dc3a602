package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// A thread that takes neighbouring words of global memory tests for each of them whether it lies within the array, so that the compiler cannot put them
// together: for (k = 0; k < 4; k++) if (4 * i + k < n) y[4 * i + k] = f(x[4 * i + k]).

// testedWords matches such words. Which of them make up vectors their addresses tell when it is tried.
func (in *Input) testedWords() []*Match {
	if in.Launch.Record == nil {
		return nil
	}
	groups := in.testedGroups()
	var vectors [][]blamer.Node
	for _, g := range groups {
		a, _ := guardedWordOf(in.Inst(g[0]))
		for v := range slices.Chunk(g, max(2, int(widestAccess/a.size))) {
			vectors = append(vectors, v)
		}
	}
	matches := in.asVectors(vectors)
	for _, m := range matches {
		m.Spares, m.Variant = IssueSlots|Sectors, "words behind tests"
		m.Change = &Change{Streams: &Streams{Together: groups}}
		m.Suggestions = []string{
			fmt.Sprintf("Each thread accesses neighbouring words one by one at %s, each behind a test of its own. Make one test for a vector (float4, int2 or the like, reinterpret_cast<const float4 *>): where its last word lies within the array, load it, work on all its words, and store it; else go through the words one by one.",
				in.places(in.bySamples(slices.Concat(groups...)), 4)),
			"Vector by vector: to load all of a thread's vectors before the first is stored takes registers, and did not gain. The address has to be a multiple of the vector's size, as that of each row is where rows have a multiple of its words: then no vector goes over the end of a row, and the words need no tests of their own.",
		}
	}
	return matches
}

// testedGroups returns the accesses of each source line of which compilers have made several of one kind and size, in one loop or outside of loops, some
// of them behind tests, and that take more sectors than their words fill.
func (in *Input) testedGroups() (groups [][]blamer.Node) {
	type key struct {
		frame cubin.Frame
		loop  *cfg.Loop
		op    sass.Op
		size  int32
	}
	found := make(map[key][]blamer.Node)
	var order []key
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG || op == sass.STG }) {
		a, ok := guardedWordOf(in.Inst(n))
		if !ok || in.frame(n).Line == 0 || in.readsStored(n) {
			continue
		}
		k := key{in.frame(n), in.Loop(n), a.op, a.size}
		if found[k] == nil {
			order = append(order, k)
		}
		found[k] = append(found[k], n)
	}
	for _, k := range order {
		g := found[k]
		sectors, ideal, tested := 0.0, 0.0, false
		for _, n := range g {
			c := in.counts(n)
			sectors, ideal = sectors+c.sectors, ideal+c.sectorsIdeal
			tested = tested || !in.Inst(n).Guard.Always() || in.Block(n) != in.Block(g[0])
		}
		if len(g) > 1 && tested && ideal > 0 && sectors >= someSectors*ideal {
			groups = append(groups, g)
		}
	}
	return groups
}

// readsStored reports whether a load reads what the launch has stored before, so that it cannot be made with earlier ones.
func (in *Input) readsStored(n blamer.Node) bool {
	at := in.recordPlace(n)
	return slices.ContainsFunc(in.Launch.Record.Dependences, func(d profiler.Dependence) bool {
		return d.Kind == profiler.FlowDependence && d.Space == "global" && d.To == at
	})
}
