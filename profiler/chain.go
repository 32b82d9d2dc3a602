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
	// Feeds are the launches before, no more than MostBack back, that have stored last what watched blocks load, the nearest first.
	Feeds []Feed
	// Overwrites are how many launches back those are, up to MostBack, whose watched blocks load what any block of this one stores, ascending.
	Overwrites []int
}

// MostBack is how many launches lie between a launch and one whose values it loads at most, and 1, as far as a profile tells. Kernels that could
// be one are close together.
const MostBack = 4

// A Feed is what a launch loads of what an earlier one has stored.
type Feed struct {
	Back   int        // launches
	Bytes  int64      // distinct ones of each watched block
	Left   int64      // bytes that the earlier launch has stored between the first line and the last that the watched blocks load
	Blocks int        // of the earlier launch, from which a single thread loads at most
	Loads  []FeedLoad // that load them, in order
}

// A FeedLoad is a load of which Bytes of the distinct bytes Of, by watched block, are what an earlier launch has stored.
type FeedLoad struct {
	Place
	Bytes, Of int64
}

// Part takes note of a launch so many back with which this one cannot be one.
func (x *Inheritance) Part(back int) {
	if x.Apart == 0 || back < x.Apart {
		x.Apart = back
	}
}

// Sort brings the loads into their order.
func (x *Inheritance) Sort() { slices.SortFunc(x.Loads, ComparePlaces) }

// leastOwn is the share of what a launch loads that makes it worth being one with the launch before.
const leastOwn = .25

// mostChained is how many launches are made one at most, as package record follows no more.
const mostChained = 32

// A Chain is launches of a profile that follow each other and could be one.
type Chain struct {
	First    int       // the number of the first, counted from 0 with those that were equal to the one before
	Launches []*Launch // equal ones as often as they are there
	// Of a chain by joints, the launches' numbers, as First, and what is between each and the next one; else none.
	At     []int
	Joints []Joint
}

// Cycles is what the launches take by themselves.
func (c *Chain) Cycles() (n int64) {
	for _, l := range c.Launches {
		n += l.Facts.Cycles
	}
	return n
}

// Chains are those of a profile that have launches of a kernel, and what the kernel takes besides.
type Chains struct {
	List  []Chain // in their order
	Alone int64   // cycles of the kernel's launches that are in none
}

// Chains returns the launches that could be one with launches of the k-th's kernel: each chain begins behind the one before and is as long as
// it can be.
func (p *Profile) Chains(k int) (c Chains) {
	var all []*Launch
	for _, l := range p.Launches {
		for range l.Facts.Count() {
			all = append(all, l)
		}
	}
	ofKernel := func(l *Launch) bool { return l.Kernel == p.Launches[k].Kernel && l.Module == p.Launches[k].Module }
	for first := 0; first < len(all); {
		last := lastOf(all, first)
		list := all[first : last+1]
		switch {
		case !slices.ContainsFunc(list, ofKernel):
		case len(list) == 1:
			c.Alone += list[0].Facts.Cycles
		default:
			c.List = append(c.List, Chain{First: first, Launches: list})
		}
		first = last + 1
	}
	return c
}

// lastOf is the last launch of the chain that begins with one, block by block.
func lastOf(all []*Launch, first int) (last int) {
	for last = first; last+1 < len(all) && all[last+1].follows() && joins(all[first:last+2]); {
		last++
	}
	return last
}

// Cycles is what the chains take, and the kernel besides.
func (c *Chains) Cycles() int64 {
	n := c.Alone
	for i := range c.List {
		n += c.List[i].Cycles()
	}
	return n
}

// Main is the chain that takes the most cycles; there has to be one.
func (c *Chains) Main() *Chain {
	main := &c.List[0]
	for i := range c.List {
		if c.List[i].Cycles() > main.Cycles() {
			main = &c.List[i]
		}
	}
	return main
}

// Speedup is what the kernel and the launches that become one with it gain together if the main chain takes 1/gain of its time: in every chain a
// launch behind the first then takes the same part of its own time.
func (c *Chains) Speedup(gain float64) float64 {
	n := float64(len(c.Main().Launches))
	further := (n/gain - 1) / (n - 1)
	before, after := float64(c.Alone), float64(c.Alone)
	for i := range c.List {
		n := float64(len(c.List[i].Launches))
		before += float64(c.List[i].Cycles())
		after += float64(c.List[i].Cycles()) / n * (1 + (n-1)*further)
	}
	return before / max(1, after)
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
