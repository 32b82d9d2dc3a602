package profiler

import "slices"

// An Inheritance says what a launch takes over from the launches before it through global memory, as far as the watched blocks tell: see
// [Record]. Launches that are one behind the other can be one launch where each block needs only what the block of its number has stored,
// as nothing but the end of a launch makes all blocks wait for each other.
type Inheritance struct {
	// Loaded are the distinct bytes that the watched blocks load, Own those of them that, of all blocks of the launches that are followed,
	// the block of the same number has stored last.
	Loaded, Own int64
	// Apart is how many launches back the nearest one is with which the launch cannot be one: of another shape, or one of whose other
	// blocks a watched block needs what they have stored, or in which a watched block loads what others overwrite now, or of which
	// nothing is known. 0: none.
	Apart int
	Loads []Place // that load what the same block has stored, in order
}

// Part takes note of a launch so many back with which this one cannot be one.
func (x *Inheritance) Part(back int) {
	if x.Apart == 0 || back < x.Apart {
		x.Apart = back
	}
}

// Sort brings the loads into their order.
func (x *Inheritance) Sort() { slices.SortFunc(x.Loads, comparePlaces) }

// leastOwn is the share of what a launch loads that makes it worth being one with the launch before.
const leastOwn = .25

// mostChained is how many launches are made one at most, as package record follows no more.
const mostChained = 32

// A Chain is launches of a profile that follow each other and could be one.
type Chain struct {
	First    int       // the number of the first, counted from 0 with those that were equal to the one before
	Launches []*Launch // equal ones as often as they are there
}

// Chain returns the launches around the k-th that could be one, each of which loads what those before it have stored; the launch alone where
// there are none.
func (p *Profile) Chain(k int) Chain {
	var all []*Launch
	at := 0
	for i, l := range p.Launches {
		if i == k {
			at = len(all)
		}
		for range l.Facts.Count() {
			all = append(all, l)
		}
	}
	first, last := at, at
	for first > 0 && all[first].follows() && joins(all[first-1:last+1]) {
		first--
	}
	for last+1 < len(all) && all[last+1].follows() && joins(all[first:last+2]) {
		last++
	}
	return Chain{first, all[first : last+1]}
}

// follows reports whether a launch loads enough of what those before it have stored.
func (l *Launch) follows() bool {
	x := l.Inherits
	return x != nil && float64(x.Own) >= leastOwn*float64(x.Loaded)
}

// joins reports whether launches that follow each other can be one.
func joins(list []*Launch) bool {
	for back, l := range list {
		if l.Fault != nil || l.Module != list[0].Module || back > 0 && (l.Inherits == nil || l.Inherits.Apart > 0 && l.Inherits.Apart <= back) {
			return false
		}
	}
	return len(list) <= mostChained
}
