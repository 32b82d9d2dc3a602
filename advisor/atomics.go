package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// atomicContention matches the stalls of atomic operations: waiting for what they return, for the queue that they fill, and for
// the last of them after the end of the warp.
type atomicContention struct{}

func (atomicContention) Name() string { return "atomic-contention" }
func (atomicContention) Class() Class { return StallElimination }

func (atomicContention) Match(in *Input) []*Match {
	c := newCollector(in)
	share, most := in.atomicShare()
	accesses := in.accessShare(func(op sass.Op) bool { return isAtomic(op) && op != sass.ATOMS })
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch op := in.Inst(b.Def).Op; {
		case isAtomic(op) && isStall(b) && b.Detail != blamer.InstructionFetch:
			c.add(in.kernelScope(), b)
		case b.Detail == blamer.GlobalMemory && !isAtomic(op): // loads queue behind atomics
			c.addShare(in.kernelScope(), b, accesses*in.queuedShare(b))
		case op == sass.EXIT && b.Detail == blamer.MemoryThrottle && share > 0: // a warp that has ended waits for its atomics
			drained := *b
			drained.Def = most
			c.addShare(in.kernelScope(), &drained, share)
		}
	}
	var matches []*Match
	for _, m := range c.finish() {
		m.Spares = DRAM | L2
		m.Change = &Change{ConflictFree: in.executedNodes(func(op sass.Op) bool { return op == sass.ATOMS })}
		all := in.executedNodes(func(op sass.Op) bool { return isAtomic(op) && op != sass.ATOMS })
		global := in.coinciding(all)
		if bytes, fit := in.copies(global); fit && len(global) > 0 {
			m.Change.Streams = &Streams{Private: global}
			m.Change.Shared = in.shared() + bytes
		} else if len(global) > 0 && len(m.Change.ConflictFree) == 0 {
			continue // of so many words no copy has room, and lanes have few in common: by __match_any_sync 16 edges a node were 0.7x
		}
		places := in.places(m.defs(), 3)
		if len(global) < len(all) { // the others hardly ever coincide
			places = in.places(in.bySamples(slices.Clone(global)), 3)
		}
		combine := "sum up in registers, over the warp (__reduce_add_sync, __shfl_xor_sync)"
		if !slices.ContainsFunc(all, func(n blamer.Node) bool { return in.Inst(n).Mod(sass.AtomOp) == sass.AtomADD }) {
			combine = "do what they do in registers, over the warp (__reduce_min_sync and the like, __shfl_xor_sync)"
		}
		m.Suggestions = []string{
			fmt.Sprintf("Threads wait for atomic operations at %s. Combine first: %s and over the block in shared memory, "+
				"and let one thread do one atomic for all.", places, combine),
			"For histograms keep a copy in shared memory for each block, or several where few bins take most of the hits (one by lane % 8, say), and let a block go through many more items than there are bins, as by a grid-stride loop over a grid of as many blocks as the GPU holds" + in.heldBlocks() + ": each block adds all its bins to those in memory in the end. If the returned value is not needed, do not use it: the operation then needs no answer. Not where the addresses hardly ever coincide.",
		}
		matches = append(matches, m)
	}
	return matches
}

// coinciding returns those of some atomics by which threads of a block mostly change the same words, all where there is none: a copy of what hardly ever
// coincides only takes room.
func (in *Input) coinciding(atomics []blamer.Node) []blamer.Node {
	const least = 4 // accesses to a word of a block
	met := slices.DeleteFunc(slices.Clone(atomics), func(n blamer.Node) bool {
		r := in.recorded(n)
		return r != nil && r.Distinct > 0 && r.Bytes < least*r.Distinct
	})
	if len(met) == 0 {
		return atomics
	}
	return met
}

// heldBlocks is how many blocks of the launch's size the GPU holds, in brackets; empty where that is not known.
func (in *Input) heldBlocks() string {
	n := in.blocksHeld(volume(in.Launch.Block))
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of this size)", n)
}

// mostCopied is the shared memory that every block can have, bytes (CUDA C++ Programming Guide, Technical Specifications).
const mostCopied = 48 << 10

// copies is the memory that copies of what atomics of a block change take, bytes, as far as the record tells, and whether they fit: where data
// say which words a block changes it needs a copy of all that any block does, as many more as there are blocks where those that were watched
// have few in common.
func (in *Input) copies(atomics []blamer.Node) (bytes int, fit bool) {
	if in.Launch.Record == nil || len(in.Launch.Record.Blocks) == 0 {
		return 0, true
	}
	watched, blocks := int64(len(in.Launch.Record.Blocks)), int64(volume(in.Launch.Grid))
	most := int64(0) // several atomics change the same words
	for _, n := range atomics {
		r := in.recorded(n)
		if r == nil {
			continue
		}
		changed := r.Distinct / watched
		if in.gathers(n) { // what other blocks change as well, and what each block adds to it
			changed = r.Shared/watched + (r.Distinct-r.Shared)/watched*blocks
		}
		most = max(most, changed)
	}
	return int(most), most <= mostCopied
}

// atomicShare returns the share of atomics in all writes to global memory, by threads, and the one with the most of them.
func (in *Input) atomicShare() (share float64, most blamer.Node) {
	atomics, all, hottest := 0.0, 0.0, 0.0
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for inst := range s.counters {
			n := blamer.Node{Code: code, Inst: inst}
			op, threads := in.Inst(n).Op, s.counters[inst].threads
			switch {
			case op == sass.STG || op == sass.ST:
				all += threads
			case isAtomic(op) && op != sass.ATOMS:
				all += threads
				atomics += threads
				if threads > hottest {
					hottest, most = threads, n
				}
			}
		}
	}
	if all == 0 {
		return 0, most
	}
	return atomics / all, most
}

func isAtomic(op sass.Op) bool {
	return op.Properties().Atomic(^sass.NoSpace)
}

// answeredAtomics are the atomic operations that return what was there before.
func (in *Input) answeredAtomics() []blamer.Node {
	return slices.DeleteFunc(in.executedNodes(isAtomic), func(n blamer.Node) bool { return len(withoutCounters(in.Inst(n).Defs(nil))) == 0 })
}
