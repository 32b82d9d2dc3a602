package stream

import (
	"errors"

	"gpa/cubin/sass"
)

// A push is a launch whose threads go on with what threads of the launch behind do that load their values: see [Push].
type push struct {
	repeater // of the second launch
	first    []*Block
	warps    int // of a block of the first
	writers  *writers
	kept     bool
	homes    map[number][]number // threads of the second launch by the one of the first
	passed   map[int32]bool      // stores of the first launch by which values go to other threads of the block
	left     map[int32]bool      // stores that leave values to the second launch
	meets    map[int]bool        // blocks in which they do
	sought   int                 // how often a store of passed was looked up
	before   number              // the home of the last thread that had one
}

// mostUneven is how many times the mean of the threads of the second launch a block of the first may get: where a few blocks would do it
// all, they are what the second launch waits for.
const mostUneven = 4

func newPush(p Program, first, second []*Block, kept bool) (*push, error) {
	if err := eachForItself(p, second); err != nil {
		return nil, err
	}
	x := &push{repeater: newRepeater(p, second), first: first, warps: len(first[0].Warps), kept: kept, homes: make(map[number][]number),
		passed: make(map[int32]bool), left: make(map[int32]bool), meets: make(map[int]bool)}
	x.writers = writersOf(first, x.warps)
	w := writersOf(second, x.repeater.warps)
	if err := w.races(second, x.repeater.warps); err != nil {
		return nil, err
	}
	if err := x.settle(); err != nil {
		return nil, err
	}
	x.mark()
	x.access = x.decide
	return x, nil
}

// settle finds for each thread of the second launch the one of the first that goes on with it, in whose block all of its values are.
func (x *push) settle() error {
	for n, b := range x.blocks {
		homes := make([][warpLanes]number, len(b.Warps))
		var err error
		eachAccess(b, func(w int, _ *Event, a *Access) {
			if a.Kind == store || err != nil {
				return
			}
			x.writers.each(b, w, a, func(unit uint64, t thread) bool {
				err = x.loads(&homes[w][t.lane], unit, a.Kind)
				return err == nil
			})
		})
		if err != nil {
			return err
		}
		for w := range homes {
			x.deal(n, w, &homes[w])
		}
	}
	counts := make([]int, len(x.first))
	all := 0
	for home, list := range x.homes {
		block, _, _ := home.place(x.warps)
		counts[block] += len(list)
		all += len(list)
	}
	for _, n := range counts {
		if n > mostUneven*(1+all/len(counts)) {
			return errors.New("few blocks of the first launch have what the threads of the second one need")
		}
	}
	return nil
}

// loads takes note that a thread whose home is known or not loads a unit.
func (x *push) loads(home *number, unit uint64, kind uint8) error {
	by := x.writers.of(unit)
	switch {
	case by == 0:
		return nil
	case by == many || kind != load:
		return errors.New("the second launch needs what several threads of the first one make together")
	case *home == 0:
		*home = by
	case by != *home:
		x.shared(unit)
		own, _, _ := by.place(x.warps)
		at, _, _ := home.place(x.warps)
		if own != at {
			return errors.New("threads of the second launch need what several blocks of the first one store")
		}
		x.meets[own] = true
	}
	return nil
}

// shared takes note that a unit goes to another thread.
func (x *push) shared(unit uint64) {
	if x.sought++; x.sought > mostSought*warpLanes {
		return
	}
	if op, ok := x.storeOf(unit); ok {
		x.passed[op] = true
	}
}

// storeOf finds the store of the first launch by which a unit is left.
func (x *push) storeOf(unit uint64) (op int32, ok bool) {
	x.writers.storesTo(unit, x.first, x.warps, func(last int32) { op, ok = last, true })
	return op, ok
}

// deal gives the threads of a warp of the second launch to their homes. One that loads nothing of the first launch but does something goes with
// the thread before it.
func (x *push) deal(block, w int, homes *[warpLanes]number) {
	b := x.blocks[block]
	busy := uint32(0)
	for i := range b.Warps[w].Events {
		if e := &b.Warps[w].Events[i]; e.Kind == RefAccess && b.Access[e.Ref].Space == global {
			busy |= b.Access[e.Ref].Mask
		}
	}
	for i := range lanesOf(busy) {
		if homes[i] > 0 {
			x.before = homes[i]
		} else if x.before == 0 {
			x.before = 1
		}
		x.homes[x.before] = append(x.homes[x.before], numberOf(x.repeater.warps, block, w, i))
	}
}

// mark finds the stores that leave values to the second launch.
func (x *push) mark() {
	sought := make(map[int32]int)
	for _, b := range x.blocks {
		eachAccess(b, func(w int, e *Event, a *Access) {
			if a.Kind != load || sought[e.Op] > mostSought {
				return
			}
			x.writers.each(b, w, a, func(unit uint64, _ thread) bool {
				if x.writers.of(unit) > 0 {
					if op, ok := x.storeOf(unit); ok {
						x.left[op] = true
					}
					sought[e.Op]++
				}
				return sought[e.Op] <= mostSought
			})
		})
	}
}

// decide lets loads go of what the thread has, and finds others in shared memory. The repeated thread's lanes are those of its home.
func (x *push) decide(e *Event, a *Access, lanes *[warpLanes]lane) (as Form, mask uint32) {
	if a.Kind != load {
		return Plain, ^uint32(0)
	}
	own, known := true, true
	for i := range lanes {
		l := &lanes[i]
		if l.at >= len(l.events) || l.events[l.at].Op != e.Op {
			continue
		}
		access := &l.block.Access[l.events[l.at].Ref]
		if access.Mask>>l.lane&1 == 0 {
			continue
		}
		at := l.block.address(access, l.lane)
		here := true
		for unit := range x.writers.units(at, access.Size) {
			by := x.writers.of(unit)
			here = here && by > 0
			own = own && by == l.home
		}
		if !here {
			known = false
			mask |= 1 << i
		}
	}
	switch {
	case own && known:
		return Gone, 0
	case known:
		return Shared, ^uint32(0)
	}
	return Plain, mask
}

// Block returns the n-th block.
func (x *push) Block(n int) (*Block, error) {
	b := x.first[n]
	gate := int32(-1)
	if x.meets[n] {
		gate = b.addGate()
	}
	for w := range b.Warps {
		x.extend(b, n, w, gate)
	}
	b.Close()
	return b, nil
}

// extend lets a warp go on, behind a barrier or not.
func (x *push) extend(b *Block, block, w int, gate int32) {
	events := b.Warps[w].Events
	last := events[len(events)-1]
	for i := range events {
		e := &events[i]
		switch in := x.program.Inst(e.Op); {
		case e.As != Plain:
		case in.Op == sass.EXIT:
			e.As = Gone
		case !x.left[e.Op]:
		case x.passed[e.Op]:
			e.As = Shared
		case !x.kept:
			e.As = Gone
		}
	}
	if gate >= 0 {
		all := b.exists(w)
		events = append(events, Event{Op: last.Op, As: Barrier, Kind: RefSync, Ref: b.AddSync(Sync{Arrives: gate, Waits: gate}),
			Lanes: b.LanesOf(Lanes{Active: all, Mask: all})})
	}
	var d demand
	for i := range warpLanes {
		d[i] = x.homes[numberOf(x.warps, block, w, i)]
	}
	x.repeater.home = numberOf(x.warps, block, w, 0)
	events = x.rounds(b, events, d.rounds())
	events = append(events, Event{Op: last.Op, Lanes: last.Lanes, Ref: -1})
	b.Warps[w] = Warp{Events: events, Values: padded(b.Warps[w].Values, len(events))}
}
