package advisor

import (
	"fmt"
	"strings"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// registerReuse matches the stalls of local memory accesses: values that did not fit into registers, and arrays that
// are indexed at run time.
type registerReuse struct{}

func (registerReuse) Name() string { return "register-reuse" }
func (registerReuse) Class() Class { return StallElimination }

func (registerReuse) Match(in *Input) []*Match {
	if filled, _, _ := in.filledTable(); len(filled) > 0 {
		return nil // no value of the thread
	}
	c := newCollector(in)
	share, most := in.localStores()
	accesses := in.accessShare(isLocal)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch op := in.Inst(b.Def).Op; {
		case isLocal(op) && isStall(b):
			c.add(in.kernelScope(), b)
		case b.Detail == blamer.GlobalMemory: // loads queue behind accesses to local memory
			c.addShare(in.kernelScope(), b, accesses*in.queuedShare(b))
		case op == sass.EXIT && b.Detail == blamer.MemoryThrottle && share > 0: // a warp that has ended waits for its stores
			drained := *b
			drained.Def = most
			c.addShare(in.kernelScope(), &drained, share)
		}
	}
	c.addIssued(in.executedNodes(isLocal)) // the instructions go as well
	matches := c.finish()
	instead, recursive := in.chosenAtRunTime(), in.savesForItself()
	for _, m := range matches {
		m.Samples = max(0, m.Samples-instead)
		m.Spares = DRAM | L2 | IssueSlots
		m.Change = &Change{Gone: in.executedNodes(isLocal)}
		m.Suggestions = []string{
			fmt.Sprintf("Values are kept in local memory at %s (%d registers and %d bytes of local memory a thread). Split the loop or the function so that fewer values are alive at a time, or recompute cheap ones.",
				in.places(m.defs(), 3), in.Launch.Facts.Registers, in.Launch.Facts.LocalBytes),
			"If an array of the thread is indexed by a variable, unroll the loop so that the indices are constants. If __launch_bounds__ or -maxrregcount limits the registers, raise the limit; that costs occupancy.",
		}
		if recursive != "" {
			m.Suggestions = []string{
				fmt.Sprintf("%s calls itself: what is alive across its call is in local memory, of each depth, stored and loaded again at %s (%d registers and %d bytes of local memory a thread). Make a loop of it, with an array for what has to be kept.",
					recursive, in.places(m.defs(), 3), in.Launch.Facts.Registers, in.Launch.Facts.LocalBytes),
				"Where the depth has a bound, make it an argument of a template (template <int depth>, with the end of the recursion specialised), so that the calls are inlined. Splitting the function into several saves more, not less.",
			}
		}
	}
	return matches
}

// savesForItself names the function whose accesses to local memory are most of all where it calls itself, "" where it does not.
func (in *Input) savesForItself() string {
	all, by := 0.0, make(map[*cfg.Func]float64)
	var most blamer.Node
	for _, n := range in.executedNodes(isLocal) {
		if in.isIndexed(n) {
			continue
		}
		k, f := in.counts(n).executions, in.Func(n)
		if all += k; f == nil {
			continue
		}
		if by[f] += k; most == (blamer.Node{}) || by[f] > by[in.Func(most)] {
			most = n
		}
	}
	f := in.Func(most)
	if f == nil || 2*by[f] < all || !callsItself(in.codes[most.Code].graph, f) {
		return ""
	}
	return f.Function.Demangled
}

// chosenAtRunTime is how many samples the instructions take at least that stand for accesses to arrays of a thread once the arrays
// are registers, which have no index: a comparison and a selection each. Spilled values lie at fixed places of the frame, whose
// address is in R1, and need none.
func (in *Input) chosenAtRunTime() (samples float64) {
	const instructions = 2
	for _, n := range in.executedNodes(isLocal) {
		if in.isIndexed(n) {
			samples += in.samplesOf(in.counts(n).executions, instructions*in.Model.Pipes[arch.ALU].Interval.Value)
		}
	}
	return samples
}

// isIndexed reports whether an access to local memory is to a place that the thread computes.
func (in *Input) isIndexed(n blamer.Node) bool {
	const stackPointer = 1
	o := in.Inst(n).Address()
	return o != nil && o.Reg != stackPointer && o.Reg != sass.RZ
}

func isLocal(op sass.Op) bool { return op.Properties().Accesses(sass.SpaceLocal) }

// executedNodes lists the instructions with certain opcodes that were sampled or counted.
func (in *Input) executedNodes(is func(sass.Op) bool) []blamer.Node {
	var list []blamer.Node
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		for i := range in.Module.Codes[code].Insts {
			if is(in.Module.Codes[code].Insts[i].Op) && (c.total[i] > 0 || c.executions != nil && c.executions[i] > 0) && c.graph.Block(i) != nil {
				list = append(list, blamer.Node{Code: code, Inst: i})
			}
		}
	}
	return list
}

// localStores returns the share of local memory in what is stored, by executions, and the store to it that runs most.
func (in *Input) localStores() (share float64, most blamer.Node) {
	local, all, hottest := 0.0, 0.0, 0.0
	stores := in.executedNodes(func(op sass.Op) bool {
		return op.Properties().Writes&(globalMemory|sass.SpaceLocal) != 0
	})
	for _, n := range stores {
		k := in.counts(n).executions
		all += k
		if in.Inst(n).Op != sass.STL {
			continue
		}
		local += k
		if k > hottest {
			hottest, most = k, n
		}
	}
	if all == 0 {
		return 0, most
	}
	return local / all, most
}

// boundRegisters says how a compiler is made to keep to the registers that a block has room for, where a change takes most of them: it does not
// know how large blocks are, and with a few more no block fits on an SM, so that the kernel is not launched at all.
func (in *Input) boundRegisters(m *Match) {
	const nearly = .75
	if in.language != cudaC || m.Change == nil || m.Change.Registers == 0 || len(m.Suggestions) == 0 {
		return
	}
	threads := volume(in.Launch.Block)
	if s := m.Change.Streams; s != nil {
		for _, x := range s.Merged {
			if x.Axis < MergeX { // threads of a block
				threads /= x.Factor
			}
		}
	}
	room := in.mostRegistersOf(threads)
	if room >= in.Model.Limits.RegistersThread.Int() || float64(m.Change.Registers) < nearly*float64(room) {
		return
	}
	m.declareBounds(threads, room)
}

// boundsOf says so in a match of launches whose blocks are too large for a thread to have all registers that there are for one.
func (in *Input) boundsOf(m *Match) {
	if threads := volume(in.Launch.Block); in.language == cudaC && in.mostRegistersOf(threads) < in.Model.Limits.RegistersThread.Int() {
		m.declareBounds(threads, in.mostRegistersOf(threads))
	}
}

// declareBounds says what tells a compiler how many registers a thread of a block has room for.
func (m *Match) declareBounds(threads, room int) {
	first := &m.Suggestions[0] // which every report has
	*first = strings.TrimSuffix(*first, " ") + fmt.Sprintf(" A block of %d threads has room for %d registers a thread: declare __launch_bounds__(%d), so that the compiler keeps to it.", threads, room, threads)
}
