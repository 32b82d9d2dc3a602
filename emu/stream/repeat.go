package stream

import (
	"math"
	"math/bits"
	"slices"
)

// A repeater lets lanes of one launch do what threads of another one do.
type repeater struct {
	program Program
	blocks  []*Block // of the other launch
	warps   int      // of each
	indexer indexer
	indices map[int][]bool // by warp of the launch: see indexer
	// access decides about an access to global memory: the form in which it is repeated, and in which of its lanes.
	access func(e *Event, a *Access, lanes *[warpLanes]lane) (as Form, mask uint32)
	home   number // of the first lane: see lane
	// repeated takes note of a round; nil for nobody.
	repeated func(*round)
}

func newRepeater(p Program, blocks []*Block) repeater {
	return repeater{program: p, blocks: blocks, warps: len(blocks[0].Warps), indices: make(map[int][]bool), indexer: newIndexer(p)}
}

// A lane repeats the events of a thread.
type lane struct {
	thread number // nobody for a lane that repeats nothing
	home   number // the thread that repeats it, where it is one of a launch that was before
	block  *Block
	events []Event
	index  []bool
	at     int
	lane   int // of the thread in its warp
}

// next goes on to the thread's next event.
func (l *lane) next() {
	for l.at < len(l.events) && l.block.Lanes[l.events[l.at].Lanes].Active>>l.lane&1 == 0 {
		l.at++
	}
}

// lanes are ready to repeat threads.
func (x *repeater) lanes(threads *[warpLanes]number) (list [warpLanes]lane) {
	for i, t := range threads {
		if t <= 0 {
			continue
		}
		block, warp, own := t.place(x.warps)
		b, key := x.blocks[block], block*x.warps+warp
		index, ok := x.indices[key]
		if !ok {
			index = x.indexer.of(b, warp)
			x.indices[key] = index
		}
		list[i] = lane{thread: t, home: x.home + number(i), block: b, events: b.Warps[warp].Events, index: index, lane: own}
		list[i].next()
	}
	return list
}

// repeat appends to the events of a warp of a block what threads do, lane by lane. The lanes go through the program together, those that are behind
// first, as where a compiler makes threads meet again behind branches.
func (x *repeater) repeat(out *Block, events []Event, threads *[warpLanes]number) []Event {
	lanes := x.lanes(threads)
	var ops [warpLanes]int32 // the next of each lane
	for i := range lanes {
		ops[i] = lanes[i].op()
	}
	for {
		op, on := int32(ended), uint32(0)
		for i, next := range ops {
			if next < op {
				op, on = next, 0
			}
			if next == op {
				on |= 1 << i
			}
		}
		if op == ended {
			return events
		}
		if e, ok := x.step(out, op, on, &lanes); ok {
			events = append(events, e)
		}
		for i := range lanesOf(on) {
			l := &lanes[i]
			l.at++
			l.next()
			ops[i] = l.op()
		}
	}
}

// ended is the instruction of a lane that has done all of its events.
const ended = math.MaxInt32

// op is the instruction of a lane's next event.
func (l *lane) op() int32 {
	if l.at == len(l.events) {
		return ended
	}
	return l.events[l.at].Op
}

// step is the event of the lanes that are at an instruction, those of a mask; false where nothing is left of it.
func (x *repeater) step(out *Block, op int32, on uint32, lanes *[warpLanes]lane) (Event, bool) {
	var at Lanes
	var first *Event
	var from *Block
	var addr [warpLanes]uint64
	var kept Access
	index, mask := true, uint32(0)
	for i := range lanesOf(on) {
		l := &lanes[i]
		e := &l.events[l.at]
		if first == nil {
			first, from = e, l.block
		}
		was := l.block.Lanes[e.Lanes]
		at.Active |= 1 << i
		at.Mask |= was.Mask >> l.lane & 1 << i
		at.Cost = max(at.Cost, was.Cost)
		index = index && l.index[l.at]
		if e.Kind == RefAccess {
			if a := &l.block.Access[e.Ref]; a.Mask>>l.lane&1 != 0 {
				kept = *a
				addr[i] = l.block.address(a, l.lane)
				mask |= 1 << i
			}
		}
	}
	if index || first.As == Gone {
		return Event{}, false
	}
	e := Event{Op: op, As: first.As, Ref: -1}
	if first.Kind == RefAccess {
		if kept.Size == 0 {
			kept = from.Access[first.Ref]
		}
		if kept.Space == global && mask != 0 {
			as, some := x.access(first, &kept, lanes)
			if as == Gone {
				return Event{}, false
			}
			e.As, mask = as, mask&some
			at.Mask &= mask
		}
		e.Kind, e.Ref = RefAccess, out.AddAccess(Access{Kind: kept.Kind, Space: kept.Space, Size: kept.Size}, mask, &addr)
	}
	e.Lanes = out.LanesOf(at)
	return e, true
}

// A round is what each lane of a warp repeats at a time.
type round [warpLanes]number

// mostAbreast is how many rounds are laid side by side, as values are computed that do not depend on each other: what more takes too many
// registers.
const mostAbreast = 8

// rounds appends to the events of a warp what rounds of threads do, some at a time side by side.
func (x *repeater) rounds(out *Block, events []Event, list []round) []Event {
	for some := range slices.Chunk(list, mostAbreast) {
		streams := make([][]Event, len(some))
		for i := range some {
			streams[i] = x.repeat(out, nil, (*[warpLanes]number)(&some[i]))
			if x.repeated != nil {
				x.repeated(&some[i])
			}
		}
		events = abreast(events, streams)
	}
	return events
}

// abreast appends streams laid side by side: an instruction that several are at is issued for one after the other.
func abreast(events []Event, streams [][]Event) []Event {
	for {
		op := int32(math.MaxInt32)
		for _, s := range streams {
			if len(s) > 0 {
				op = min(op, s[0].Op)
			}
		}
		if op == math.MaxInt32 {
			return events
		}
		first := len(events)
		for i, s := range streams {
			if len(s) > 0 && s[0].Op == op {
				events = append(events, s[0])
				streams[i] = s[1:]
			}
		}
		for i := first; i+1 < len(events); i++ { // the next one does not need its result
			events[i].Stall = abreastStall
		}
	}
}

// abreastStall is the cycles from an instruction to one that does not need its result: a pipe takes a warp in two.
const abreastStall = 2

// A demand is the threads whose work the lanes of a warp do next, by lane.
type demand [warpLanes][]number

// add adds a thread to a lane's, once.
func (d *demand) add(lane int, t number) {
	if !slices.Contains(d[lane], t) {
		d[lane] = append(d[lane], t)
	}
}

// rounds deals the demand into rounds.
func (d *demand) rounds() (list []round) {
	most := 0
	for i := range d {
		most = max(most, len(d[i]))
	}
	list = make([]round, most)
	for i := range d {
		for k, t := range d[i] {
			list[k][i] = t
		}
	}
	return list
}

// lanesOf lists the lanes of a mask.
func lanesOf(mask uint32) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for m := mask; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros32(m)) {
				return
			}
		}
	}
}

// padded adds to values of events those of events of which nothing was recorded.
func padded(values []Value, events int) []Value {
	if values == nil {
		return nil
	}
	return append(values, make([]Value, events-len(values))...)
}
