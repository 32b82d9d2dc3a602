package stream

import (
	"errors"
	"slices"

	"gpa/cubin/sass"
)

// A pull is a launch whose threads do for themselves what threads of the launch before do whose values they need: see [Pull].
type pull struct {
	repeater
	second  Source
	writers *writers
	kept    bool
	left    map[int32]bool // stores of the first launch that leave values to the second
	sought  map[int32]int  // how often the store behind a load of the second launch was looked up
	stored  map[number]bool
}

// mostSought is how often the store is looked up that a load finds: it is mostly one, and never more than the few of a kernel.
const mostSought = 256

func newPull(p Program, first []*Block, second Joinable, kept bool) (Joinable, error) {
	if err := eachForItself(p, first); err != nil {
		return Joinable{}, err
	}
	x := &pull{repeater: newRepeater(p, first), second: second.Source, kept: kept, left: make(map[int32]bool), sought: make(map[int32]int),
		stored: make(map[number]bool)}
	x.writers = writersOf(first, x.warps)
	if err := x.writers.races(first, x.warps); err != nil {
		return Joinable{}, err
	}
	x.access, x.repeated = x.decide, x.took
	return Joinable{x, second.Shape}, nil
}

// decide lets stores of what is left to the second launch go, and others be made once.
func (x *pull) decide(e *Event, a *Access, lanes *[warpLanes]lane) (as Form, mask uint32) {
	switch {
	case a.Kind == load:
		return Plain, ^uint32(0)
	case x.left[e.Op] && !x.kept:
		return Gone, 0
	}
	for i := range lanes {
		if t := lanes[i].thread; t > 0 && !x.stored[t] {
			mask |= 1 << i
		}
	}
	if mask == 0 {
		return Gone, 0
	}
	return Plain, mask
}

// took takes note of what has been done once.
func (x *pull) took(r *round) {
	for _, t := range r {
		x.stored[t] = true
	}
}

// Block returns the n-th block.
func (x *pull) Block(n int) (*Block, error) {
	b, err := x.second.Block(n)
	if err != nil {
		return nil, err
	}
	for w := range b.Warps {
		p := puller{pull: x, block: b, warp: w}
		if err := p.all(); err != nil {
			return nil, err
		}
	}
	b.Close()
	return b, nil
}

// A puller goes through the events of a warp.
type puller struct {
	*pull
	block   *Block
	warp    int
	held    [warpLanes][]number // whose values the lanes have
	demand  demand
	waiting uint8 // dependence counters of the loads that the demand stands for
	out     []Event
	values  []Value // of those of the launch, where they were recorded
}

// all makes the events of the warp.
func (p *puller) all() error {
	events, values := p.block.Warps[p.warp].Events, p.block.Warps[p.warp].Values
	for i := range events {
		e := events[i]
		in := p.program.Inst(e.Op)
		if p.waiting&in.Control.WaitMask != 0 || e.Kind == RefSync || in.Op == sass.EXIT {
			p.flush()
		}
		if e.Kind == RefAccess && e.As == Plain {
			if a := &p.block.Access[e.Ref]; a.Space == global && a.Kind != store && a.Mask != 0 {
				if err := p.load(&e, in, *a); err != nil {
					return err
				}
			}
		}
		p.out = append(p.out, e)
		if values != nil {
			p.values = append(padded(p.values, len(p.out)-1), values[i])
		}
	}
	p.flush()
	p.block.Warps[p.warp] = Warp{Events: p.out, Values: padded(p.values, len(p.out))}
	return nil
}

// load takes from a load the lanes that have the values or get them otherwise.
func (p *puller) load(e *Event, in *sass.Inst, a Access) error {
	var addr [warpLanes]uint64
	p.block.Addresses(&a, &addr)
	rest, full := uint32(0), false
	for i := range lanesOf(a.Mask) {
		for unit := range p.writers.units(addr[i], a.Size) {
			switch by := p.writers.of(unit); {
			case by == many:
				return errors.New("the second launch loads what several threads of the first one store")
			case by == 0:
				rest |= 1 << i
			case a.Kind != load:
				return errors.New("the second launch adds to what the first one stores")
			case !slices.Contains(p.held[i], by):
				p.demand.add(i, by)
				p.seek(e.Op, unit)
				full = full || len(p.demand[i]) >= 2*mostAbreast
			}
		}
	}
	switch {
	case rest == a.Mask:
		return nil
	case rest != 0:
		l := p.block.Lanes[e.Lanes]
		l.Mask &= rest
		e.Lanes, e.Ref = p.block.LanesOf(l), p.block.AddAccess(Access{Kind: a.Kind, Space: a.Space, Size: a.Size}, rest, &addr)
	default:
		e.As = Gone
	}
	if c := in.Control.WriteBarrier; c >= 0 {
		p.waiting |= 1 << c
	}
	if full {
		p.flush()
	}
	return nil
}

// seek finds the store by which a unit is left to a load.
func (p *pull) seek(op int32, unit uint64) {
	if p.sought[op]++; p.sought[op] <= mostSought {
		p.writers.storesTo(unit, p.blocks, p.warps, func(op int32) { p.left[op] = true })
	}
}

// flush does what the lanes need.
func (p *puller) flush() {
	p.waiting = 0
	rounds := p.demand.rounds()
	if len(rounds) == 0 {
		return
	}
	p.out = p.rounds(p.block, p.out, rounds)
	for i := range p.demand {
		for _, t := range p.demand[i] {
			if len(p.held[i]) < mostCarried {
				p.held[i] = append(p.held[i], t)
			}
		}
	}
	p.demand = demand{}
}
