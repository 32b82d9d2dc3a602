package emu

import "math/bits"

// A domain is what executes by itself: one SM in time, or the whole launch without timing. Warps reach what they share
// with the rest of the launch through it.
//
// A domain may run ahead of the others. Its stores then stay in a buffer that only it sees, and memory is as it was when
// it began to, so that what it does depends on nobody else; see crew.go.
type domain struct {
	last    *buffer // that an access hit last
	budget  int64   // warp instructions that it may execute
	changes int64   // what its threads did that others can see: stores, atomics that changed something, exits, …
	tally   *tally
	stores  storeBuffer
	ahead   bool
	visited []bool   // by op, those that have been executed; nil while nobody wants to know
	fresh   int      // how many
	scratch *scratch // of who advances it
	journal *journal // of what is written; nil while nobody wants to know
	orbits  *orbits  // of the warps' states; the same
}

// A tally counts what has been executed. The sum over several is what counts.
type tally struct {
	ops    []opCounter     // by op index
	memory []memoryCounter // the same, with timing
}

// An opCounter counts executions of an op.
type opCounter struct {
	executions, threads, taken int64
}

func newDomain(t *tally) domain { return domain{last: &buffer{}, tally: t, scratch: new(scratch)} }

// count counts the execution of an op by the lanes of the mask; false where the domain may execute no more.
func (d *domain) count(o *op, mask uint32) bool {
	if d.budget == 0 {
		return false
	}
	d.budget--
	d.visit(o.index)
	c := &d.tally.ops[o.index]
	c.executions++
	c.threads += int64(bits.OnesCount32(mask))
	return true
}

// visit notes that an op is executed, where somebody wants to know.
func (d *domain) visit(index int32) {
	if d.visited != nil && !d.visited[index] {
		d.visited[index] = true
		d.fresh++
	}
}

// add adds another tally.
func (t *tally) add(other *tally) {
	for i := range other.ops {
		to, from := &t.ops[i], &other.ops[i]
		to.executions += from.executions
		to.threads += from.threads
		to.taken += from.taken
	}
	for i := range other.memory {
		to, from := &t.memory[i], &other.memory[i]
		to.GlobalSectors += from.GlobalSectors
		to.GlobalSectorsIdeal += from.GlobalSectorsIdeal
		to.SharedWavefronts += from.SharedWavefronts
		to.SharedWavefrontsIdeal += from.SharedWavefrontsIdeal
	}
}
