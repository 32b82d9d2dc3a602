package stream

import (
	"fmt"

	"gpa/cubin/sass"
)

// A Work is what an event has to do with more than its warp and the gates of its block: what the copy engine or the tensor cores of the SM do
// from then on, phases of transaction barriers, and what the warp asks for again and again until it is there. It stays with the event: edits do not
// look at it.
type Work struct {
	Copied   []Run // lines of global memory that the copy engine moves
	Kind     uint8 // what is done to them, as package emu numbers it
	Arrivals []Arrival
	Awaits   Condition

	// Columns are those that a product ending in tensor memory multiplies, and Bytes what it, or a copy that ends there, reads from shared memory.
	Columns, Bytes int32
	InTensor       bool // the product's first factor is in tensor memory

	// Units of tensor memory that are allocated side by side, the first at a multiple of so many where Aligned is set, and those that are freed.
	// Freed and Found have a bit each, as they were numbered when they were recorded.
	Units        int32
	Aligned      bool
	Found, Freed uint32
	// Registers of a thread that the warp takes from the pool of its block, or gives to it where it is negative.
	Registers int32

	access Access
	list   []uint64
}

// A Run is lines of memory whose numbers are so many apart, and of which the same bytes are accessed.
type Run struct {
	First   uint64
	Step    int64
	Count   int32
	Sectors uint8
	Bytes   [4]uint32 // by sector
}

// A Phase is one of a transaction barrier, from one completion to the next. The barrier has a number in the launch, 0 for none, and the phase one in
// the barrier, from 1 on.
type Phase struct{ Barrier, Number int32 }

// An Arrival is how often an event arrives at a phase: itself, or what it copies or multiplies when that is complete.
type Arrival struct {
	Phase Phase
	Count int32
	Rank  int8 // of the barrier's block in the cluster
}

// A Condition is a phase that has to be complete: that so many have arrived at.
type Condition struct {
	Phase    Phase
	Arrivals int32
	Leaps    bool // the warp has not waited for the phase before
}

// SetAccess makes an access to shared memory part of the work.
func (w *Work) SetAccess(a Access, mask uint32, addr *[32]uint64) {
	var b Block
	w.access = b.Access[b.AddAccess(a, mask, addr)]
	w.list = b.list
}

// Access returns it, with an empty mask where there is none, and fills in its addresses.
func (w *Work) Access(addr *[32]uint64) *Access {
	b := Block{list: w.list}
	b.Addresses(&w.access, addr)
	return &w.access
}

// A Works is a table of a launch: what the events of kind RefWork refer to. It has a page or several for each recorded block, which go when
// nobody has events that refer to them.
type Works struct {
	pages  []page
	unused []int32 // pages that have gone
	last   int32   // that is filled, -1 for none
	held   int     // entries
}

// A page is some entries of a table.
type page struct {
	works []Work
	users int // blocks with events that refer to it
}

const (
	pageBits = 10
	// mostWorks is how many entries are kept at a time, less than a gigabyte of them.
	mostWorks = 1 << 22
)

// Begin says that what is added next is of another block.
func (t *Works) Begin() { t.last = -1 }

// Add returns what an event's Ref is for an entry.
func (t *Works) Add(w Work) (int32, error) {
	if len(t.pages) == 0 {
		t.last = -1
	}
	if t.held == mostWorks {
		return 0, fmt.Errorf("the blocks on the GPU copy, multiply and arrive at barriers over %d times, more than can be kept", mostWorks)
	}
	t.held++
	if t.last < 0 || len(t.pages[t.last].works) == 1<<pageBits {
		if n := len(t.unused); n > 0 {
			t.last, t.unused = t.unused[n-1], t.unused[:n-1]
		} else {
			t.last = int32(len(t.pages))
			t.pages = append(t.pages, page{})
		}
	}
	p := &t.pages[t.last]
	p.works = append(p.works, w)
	return t.last<<pageBits | int32(len(p.works)-1), nil
}

// At returns the entry that an event refers to.
func (t *Works) At(ref int32) *Work {
	return &t.pages[ref>>pageBits].works[ref&(1<<pageBits-1)]
}

// Use takes note that a block refers to entries, by the events' Refs, and returns the pages.
func (t *Works) Use(b *Block) (pages []int32) {
	if t.held == 0 {
		return nil
	}
	used := make(map[int32]bool)
	last := int32(-1)
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind != RefWork || e.Ref>>pageBits == last {
				continue
			}
			if last = e.Ref >> pageBits; !used[last] {
				used[last] = true
				t.pages[last].users++
				pages = append(pages, last)
			}
		}
	}
	return pages
}

// Leave takes note that a block that referred to pages is no more. With all no block refers to any page but those of which note was taken.
func (t *Works) Leave(pages []int32, all bool) {
	for _, p := range pages {
		t.pages[p].users--
	}
	if !all {
		return
	}
	for i := range t.pages {
		if p := &t.pages[i]; p.users == 0 && p.works != nil {
			t.held -= len(p.works)
			p.works = nil
			t.unused = append(t.unused, int32(i))
		}
	}
}

// withoutWork returns an error where a thread of a block copies, multiplies or is given something for all of it, for edits that give the work of one
// thread to several, or that of several to one. Arrivals at transaction barriers, and waits for them, are each thread's.
func (b *Block) withoutWork(p Program, edit string) error {
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind != RefWork {
				continue
			}
			if in := p.Inst(e.Op).Op.Properties(); in.Sync != sass.SyncTransfer || in.Async != sass.Synchronous {
				return fmt.Errorf("%s: a thread copies or multiplies for its block", edit)
			}
		}
	}
	return nil
}
