package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// restrictPointers matches the stalls of loads that read again what the same block of code has read before, because a store lies
// between and the compiler cannot know that it goes elsewhere.
type restrictPointers struct{}

func (restrictPointers) Name() string { return "restrict-pointers" }
func (restrictPointers) Class() Class { return StallElimination }

func (restrictPointers) Match(in *Input) []*Match {
	again := make(map[blamer.Node]bool)
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, b := range s.graph.Blocks {
			for _, i := range reloads(in.Module.Codes[code].Insts[b.First : b.Last+1]) {
				again[blamer.Node{Code: code, Inst: b.First + i}] = true
			}
		}
	}
	c := newCollector(in)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; again[b.Def] && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle) {
			c.add(in.functionScope(b.Def), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Change = &Change{Gone: m.allDefs()}
		m.Suggestions = []string{
			fmt.Sprintf("The value at %s is loaded again after a store that might have changed it. If the pointers never overlap, declare them const T *__restrict__ and T *__restrict__; then it stays in a register.",
				in.places(m.defs(), 3)),
			"Or keep it in a local variable across the store. Not where the arrays do overlap.",
		}
	}
	return matches
}

// reloads returns the loads of a block from an address that was loaded from before, with a store to global memory and no change
// of the address between.
func reloads(insts []sass.Inst) []int {
	var list []int
	stored := make(map[wordAccess]bool) // loaded from → whether a store came after
	for i := range insts {
		in := &insts[i]
		a, ok := wordOf(in)
		switch {
		case ok && a.op == sass.LDG:
			if after, found := stored[a]; found && after {
				list = append(list, i)
			}
			stored[a] = false
		case in.Op == sass.STG:
			for key := range stored {
				stored[key] = true
			}
		case in.Op == sass.BAR || in.Op == sass.MEMBAR || in.Op == sass.CALL || isAtomic(in.Op):
			clear(stored) // others may have written it
		}
		for key := range stored {
			if writesRegister(in, key.base) {
				delete(stored, key)
			}
		}
	}
	return list
}
