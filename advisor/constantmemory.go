package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/branch"
	"gpa/cubin/sass"
)

// constantMemory matches the stalls of loads from global memory by which all threads of the grid read the same words, one after the
// other: the constant cache gives such a word to all of them at once, as an operand of the instruction that needs it.
type constantMemory struct{}

func (constantMemory) Name() string { return "constant-memory" }
func (constantMemory) Class() Class { return StallElimination }

func (constantMemory) Match(in *Input) []*Match {
	c := newCollector(in)
	origins := perPlace(in, branch.Addresses) // of addresses; none where the code cannot be followed
	common := slices.DeleteFunc(in.broadcasts(origins), func(n blamer.Node) bool {
		return in.isInherited(n) || in.isLarge(n) // what launches before have stored is no constant
	})
	loads, assumed := in.unwritten(common)
	table := in.constantTable()
	if len(loads) == 0 {
		return table
	}
	broadcasts := in.broadcastShare(loads)
	isBroadcast := func(n blamer.Node) bool { return slices.Contains(loads, n) }
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch {
		case b.Detail == blamer.GlobalMemory && isBroadcast(b.Def) && in.awaitsOthers(b, isBroadcast):
			// the other load is waited for all the same
		case isBroadcast(b.Def) && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle || goesWithCode(b.Detail) && b.Use == b.Def):
			c.add(in.kernelScope(), b)
		case b.Detail == blamer.MemoryThrottle && in.Inst(b.Def).Op != sass.EXIT && broadcasts > 0: // the queue is full of such loads
			c.addShare(in.kernelScope(), b, broadcasts)
		}
	}
	c.addIssued(loads) // operands from constant memory take no instruction
	matches := c.finish()
	for _, m := range matches {
		m.Spares = L2 | IssueSlots
		m.Change = in.fromConstants(loads, origins)
		m.Suggestions = []string{
			fmt.Sprintf("All threads read the same words at %s, one after the other. Put the values into __constant__ memory if they fit (64 KB).",
				in.places(in.bySamples(slices.Clone(loads)), 3)),
			"Where they do not fit, load a tile of them into shared memory first, one element a thread, or let a lane load 32 and pass them on by __shfl_sync.",
		}
		if in.fitParameters(loads) {
			m.Suggestions[0] += " So small a structure can as well be a parameter of the kernel, passed by value and not by a pointer: parameters are constants."
		}
		if assumed {
			m.assume(assumedUnwritten)
		}
	}
	return append(matches, table...)
}

// fitParameters reports whether what loads read lies in buffers that would fit into a kernel's parameters, by the record.
func (in *Input) fitParameters(loads []blamer.Node) bool {
	const most = 4096 // bytes of parameters before CUDA 12.1 (CUDA C++ Programming Guide, Function Parameters)
	return !slices.ContainsFunc(loads, func(n blamer.Node) bool {
		r := in.recorded(n)
		return r == nil || r.Buffer == 0 || r.Buffer > most/4 // others need room, too
	})
}

// fromConstants is the change to constant memory: a word whose address is a number in the program is an operand, others take a load of their own,
// from the constant cache, as do those that have an index in a loop that is not unrolled in full.
func (in *Input) fromConstants(loads []blamer.Node, origins map[blamer.Node]branch.Origins) *Change {
	c := &Change{}
	for _, n := range loads {
		if origins[n]&^(branch.Param|branch.Geometry) != 0 || in.Loop(n) != nil && !in.invariantAddress(n) {
			c.Constant = append(c.Constant, n)
		} else {
			c.Gone = append(c.Gone, n)
		}
	}
	return c
}

// unwritten returns the loads of memory to which nobody stores during the launch, and whether that is assumed of any.
func (in *Input) unwritten(loads []blamer.Node) (kept []blamer.Node, assumed bool) {
	for _, n := range loads {
		written, known := in.written(n)
		if !written {
			kept = append(kept, n)
		}
		assumed = assumed || !known
	}
	return kept, assumed
}

// wholeWord reports whether an access is of 32 bits or more: 32 threads that read a byte each fill one sector too.
func wholeWord(in *sass.Inst) bool {
	switch in.Mod(sass.Size) {
	case sass.Size32, sass.Size64, sass.Size128, sass.SizeU128, sass.Size256:
		return true
	}
	return false
}

// isBroadcast reports whether the threads of a warp read one word: a request of theirs takes one sector, which has no room for a word of
// each, nor for one of two thirds of them.
func (in *Input) isBroadcast(n blamer.Node) bool {
	const words = 8 // of a sector
	k := in.counts(n)
	return wholeWord(in.Inst(n)) && in.oneSector(n) && k.threads >= 1.5*words*k.executions
}

// oneSector reports whether a load from global memory asks for a sector at a time.
func (in *Input) oneSector(n blamer.Node) bool {
	const nearly = 1.05
	k := in.counts(n)
	return in.Inst(n).Op == sass.LDG && k.sectors > 0 && k.sectors <= nearly*k.executions
}

// broadcasts lists the loads by which the threads of a warp read one word that does not depend on which warp it is, and those of which the record
// tells so.
func (in *Input) broadcasts(origins map[blamer.Node]branch.Origins) []blamer.Node {
	var list []blamer.Node
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for i := range s.counters {
			n := blamer.Node{Code: code, Inst: i}
			const varies = branch.Thread | branch.Data | branch.Warp
			o, known := origins[n]
			switch {
			case !in.oneSector(n) || in.counts(n).threads == in.counts(n).executions: // or one thread of each warp
			case !known && in.isBroadcast(n), known && o&(varies|branch.CTA) == 0, in.readAlike(n):
				list = append(list, n)
			}
		}
	}
	return list
}

// readAlike reports whether the threads of each warp have read the same words by a load, which several blocks read, from an array that fits into
// constant memory: by the record, whatever the address depends on.
func (in *Input) readAlike(n blamer.Node) bool {
	r := in.recorded(n)
	return r != nil && r.Apart == 0 && readByBlocks(r) && r.Buffer > 0 && r.Buffer <= constantBytes
}

// constantBytes is the size of constant memory (CUDA C++ Programming Guide, Technical Specifications per Compute Capability).
const constantBytes = 64 << 10

// isLarge reports whether a load in a loop reads an array that does not fit into constant memory, by the record: of that a tile in shared memory is told.
func (in *Input) isLarge(n blamer.Node) bool {
	r := in.recorded(n)
	return r != nil && r.Buffer > constantBytes && in.Loop(n) != nil
}

// broadcastShare is their share of all accesses to global memory.
func (in *Input) broadcastShare(loads []blamer.Node) float64 {
	one, all := 0.0, 0.0
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for i := range s.counters {
			n := blamer.Node{Code: code, Inst: i}
			if effectOf(in.Inst(n))&(loadGlobal|writeGlobal) == 0 {
				continue
			}
			all += s.counters[i].executions
			if slices.Contains(loads, n) {
				one += s.counters[i].executions
			}
		}
	}
	return one / max(1, all)
}
