package profiler

import (
	"math"
	"slices"

	"gpa/cubin/sass"
)

// Launches can be one, too, where blocks of equal numbers have nothing to do with each other, if the threads of one of the two work each for
// itself: its work then goes to the threads of the other one. These are the conditions, which package emu/stream holds all threads to when it
// is tried:
//
//   - A quarter of what the later launch loads, or more, is what the earlier one has stored last; it adds nothing to that by atomic operations;
//     and nothing that lies between them in the profile loads that or stores what the earlier one loads.
//   - Into the later one (Pull): no thread of the earlier one meets others at barriers, exchanges values with them, uses shared memory or adds
//     to what others add to. Each thread of the later one does for itself what makes the values that it loads. It is done Times times in all:
//     about once for maps, reductions and products whose tiles do not overlap, more often for stencils and tiles that several blocks load. Where
//     steps of neighbours go to and fro between two buffers they stay launches: each that is taken in multiplies the work of those before.
//   - Into the earlier one (Push): no thread of the later one works with others, each loads from one block of the earlier one alone, and
//     each value is loaded about once. Products, reductions by block and scans go on with what is done to their elements.
//
// So a sum over the grid and what needs it stay two: all blocks need what one has stored, or several have.

// A Joint is between a launch of a chain and the next one.
type Joint struct {
	Push  bool
	Times float64 // that the work of the earlier launch is done, or values of it are loaded
	// Kept: another launch loads what the earlier one stores as well.
	Kept bool
	// Swapped: the later one stores to what the earlier one loads.
	Swapped bool
	Share   float64 // of what the later one loads, that the earlier one has stored
	Loads   []Place // of the later launch, that load what the earlier one has stored
}

const (
	// fewTimes is how often work is done that is done about once: borders of blocks are loaded by two.
	fewTimes = 1.25
	// mostJoined is how many launches joints make one at most.
	mostJoined = 8
)

// A link is two launches that could be one.
type link struct {
	from, to int // in the order of all launches
	joint    Joint
	gain     float64
}

// A joiner looks for launches that could be one by joints.
type joiner struct {
	profile *Profile
	all     []*Launch // equal ones as often as they are there
	taken   []bool
	alone   map[*Launch]bool // see worksAlone
}

// Joined returns the launches of a profile that could be one by joints, each in one chain at most. Launches of the kernel beside are left out, and those
// that are one block by block.
func (p *Profile) Joined(beside string) (list []Chain) {
	j := joiner{profile: p, alone: make(map[*Launch]bool)}
	for _, l := range p.Launches {
		for range l.Facts.Count() {
			j.all, j.taken = append(j.all, l), append(j.taken, l.Kernel == beside)
		}
	}
	j.leave()
	for _, few := range []bool{true, false} { // what costs nothing first
		for first := range j.all {
			if c := j.chain(first, few); c != nil {
				list = append(list, *c)
			}
		}
	}
	return list
}

// leave takes the launches out that are one block by block with others, which keeps more on the SM.
func (j *joiner) leave() {
	for first := 0; first < len(j.all); {
		last := lastOf(j.all, first)
		for i := first; i <= last && last > first; i++ {
			j.taken[i] = true
		}
		first = last + 1
	}
}

// JoinedOf returns those of some chains that have launches of the k-th's kernel, as far as they are of the kernels of the one that takes the most
// cycles, and what the kernel takes besides.
func (p *Profile) JoinedOf(list []Chain, k int) (c Chains) {
	kernel := p.Launches[k]
	mine := func(l *Launch) bool { return l.Kernel == kernel.Kernel && l.Module == kernel.Module }
	for i := range list {
		if slices.ContainsFunc(list[i].Launches, mine) {
			c.List = append(c.List, list[i])
		}
	}
	if len(c.List) == 0 {
		return c
	}
	main := *c.Main()
	c.List = slices.DeleteFunc(c.List, func(x Chain) bool { return !x.alike(&main) })
	for _, l := range p.Launches {
		if mine(l) {
			c.Alone += l.Facts.Cycles * l.Facts.Count()
		}
	}
	for i := range c.List {
		for _, l := range c.List[i].Launches {
			if mine(l) {
				c.Alone -= l.Facts.Cycles
			}
		}
	}
	return c
}

// alike reports whether two chains are of the same kernels.
func (c *Chain) alike(d *Chain) bool {
	return slices.EqualFunc(c.Launches, d.Launches, func(a, b *Launch) bool { return a.Kernel == b.Kernel && a.Module == b.Module })
}

// chain is the one that begins with a launch, nil for none: as long as it can be of joints at which work is done about once, else of one.
func (j *joiner) chain(first int, few bool) *Chain {
	if j.taken[first] {
		return nil
	}
	c := Chain{First: first, At: []int{first}, Launches: []*Launch{j.all[first]}}
	alone := j.worksAlone(j.all[first])
	for last := first; len(c.At) < mostJoined && (few || len(c.At) < 2); {
		x := j.next(last, alone, few)
		if x == nil {
			break
		}
		last = x.to
		alone = alone && !x.joint.Push && j.worksAlone(j.all[last]) // what is pushed is several results of a thread
		c.At, c.Launches, c.Joints = append(c.At, last), append(c.Launches, j.all[last]), append(c.Joints, x.joint)
	}
	if len(c.Joints) == 0 {
		return nil
	}
	for _, at := range c.At {
		j.taken[at] = true
	}
	return &c
}

// next is the best link from a launch, which is one with those before it and works by single threads or not; nil for none.
func (j *joiner) next(from int, alone, few bool) (best *link) {
	for to := from + 1; to < len(j.all) && to <= from+MostBack; to++ {
		if j.taken[to] {
			continue
		}
		if x := j.link(from, to, alone); x != nil && (x.joint.Times <= fewTimes) == few && x.gain > 1 && (best == nil || x.gain > best.gain) {
			best = x
		}
	}
	return best
}

// link says how two launches could be one, nil where they cannot.
func (j *joiner) link(from, to int, alone bool) *link {
	first, second := j.all[from], j.all[to]
	feed := second.feed(to - from)
	if feed == nil || feed.Left == 0 || float64(feed.Bytes) < leastOwn*float64(second.Inherits.Loaded) || !j.near(from, to) || j.adds(second, feed) {
		return nil
	}
	loaded := j.profile.asked(second, feed) / float64(feed.Left) // times that each value is
	x := Joint{Times: loaded * j.spread(first, second, feed), Share: float64(feed.Bytes) / float64(max(1, second.Inherits.Loaded)),
		Swapped: slices.Contains(second.Inherits.Overwrites, to-from)}
	for k := to + 1; k < len(j.all) && k-from <= MostBack; k++ {
		x.Kept = x.Kept || j.all[k].feed(k-from) != nil
	}
	for _, l := range feed.Loads {
		x.Loads = append(x.Loads, l.Place)
	}
	pull := alone && (x.Times <= fewTimes || !inPlace(first) && !x.Swapped)
	push := j.worksAlone(second) && feed.Blocks <= 1 && loaded <= fewTimes && blocks(first) >= min(blocks(second), first.Facts.SMs)
	if !pull && !push {
		return nil
	}
	if x.Push = push && (!pull || x.Times > fewTimes); x.Push {
		x.Times = loaded
	}
	return &link{from, to, x, float64(first.Facts.Cycles+second.Facts.Cycles) / x.cycles(first, second)}
}

// spread is over how many threads of the later launch the values are spread that a thread of the earlier one makes, where it makes several. Those that
// it stores at a time are loaded by one as far as that loads them at a time.
func (j *joiner) spread(first, second *Launch, f *Feed) float64 {
	threads, stored, loaded := int64(0), 0, math.MaxInt
	for _, c := range first.PCs {
		if in := j.profile.inst(first, Place{c.Code, c.PC}); in != nil && in.Op.Properties().Writes&sass.SpaceGlobal != 0 {
			threads, stored = max(threads, c.ThreadExecutions), max(stored, in.AccessBytes())
		}
	}
	for _, l := range f.Loads {
		if in := j.profile.inst(second, l.Place); in != nil {
			loaded = min(loaded, in.AccessBytes())
		}
	}
	threads = min(threads, int64(blocks(first)*first.Block[0]*first.Block[1]*first.Block[2]))
	made := float64(f.Left) / 4 / float64(max(1, threads))
	return max(1, made/max(1, float64(min(stored, loaded)/4)))
}

// adds reports whether a launch adds to what an earlier one has stored, by atomic operations.
func (j *joiner) adds(l *Launch, f *Feed) bool {
	return slices.ContainsFunc(f.Loads, func(x FeedLoad) bool {
		in := j.profile.inst(l, x.Place)
		return in == nil || in.Op.Properties().Writes&sass.SpaceGlobal != 0
	})
}

// near reports whether nothing keeps two launches apart: they are of one module and did not fault, and what lies between them neither loads what the
// first has stored nor stores to what that loads.
func (j *joiner) near(from, to int) bool {
	first, second := j.all[from], j.all[to]
	if first.Fault != nil || second.Fault != nil || first.Module != second.Module {
		return false
	}
	for k := from + 1; k < to; k++ {
		if l := j.all[k]; l.Inherits == nil || l.feed(k-from) != nil || slices.Contains(l.Inherits.Overwrites, k-from) {
			return false
		}
	}
	return true
}

// cycles is what two launches take as one, about: the one whose shape it has takes its time, and the other one the cycles in which it issues, as what
// it waits for is waited for in any case. Values that are pulled are there the sooner, but not before what they are made of has been read.
func (j *Joint) cycles(first, second *Launch) float64 {
	if j.Push {
		return float64(first.Facts.Cycles) + second.issues()
	}
	t := second.Totals()
	waits := 1 - float64(t.Active)/float64(max(1, t.Samples))
	together := float64(second.Facts.Cycles)*(1-waits*j.Share*pulledWaits) + first.issues()*max(1, j.Times)
	return max(together, float64(first.Facts.Cycles)*first.reads())
}

// pulledWaits is the share of the waits for values that goes as they are pulled: with it estimates of pairs of kernels are nearest to what is compiled of
// both (testdata/fusion.cu).
const pulledWaits = .15

// Joint is what the launches of a chain take as one by joints, about.
func (c *Chain) Joint() float64 {
	left := float64(c.Cycles())
	for i := range c.Joints {
		a, b := c.Launches[i], c.Launches[i+1]
		left -= float64(a.Facts.Cycles+b.Facts.Cycles) - c.Joints[i].cycles(a, b)
	}
	return left
}

// issues is the cycles that a launch's schedulers take to issue its instructions, one a cycle.
func (l *Launch) issues() float64 {
	f := &l.Facts
	return min(float64(f.Cycles), float64(f.WarpInstructions)/float64(max(1, f.SMs*f.SchedulersPerSM)))
}

// reads is the share of a launch's DRAM traffic that it reads.
func (l *Launch) reads() float64 {
	read, written := float64(l.Facts.DRAMReadBytes), float64(l.Facts.DRAMWrittenBytes)
	if read == 0 {
		return 0
	}
	return read / (read + written)
}

// feed is what a launch loads of one so many back, nil for nothing.
func (l *Launch) feed(back int) *Feed {
	if l.Inherits == nil {
		return nil
	}
	for i := range l.Inherits.Feeds {
		if f := &l.Inherits.Feeds[i]; f.Back == back && f.Bytes > 0 {
			return f
		}
	}
	return nil
}

// asked is the bytes that all threads of a launch load of a feed, without what a thread loads again.
func (p *Profile) asked(l *Launch, f *Feed) (bytes float64) {
	for i := range f.Loads {
		x := &f.Loads[i]
		in := p.inst(l, x.Place)
		k := slices.IndexFunc(l.PCs, func(c Counter) bool { return c.Code == x.Code && c.PC == x.PC })
		if k < 0 || in == nil {
			continue
		}
		n := float64(l.PCs[k].ThreadExecutions) * float64(in.AccessBytes()) * float64(x.Bytes) / float64(max(1, x.Of))
		bytes += n * (1 - l.again(x.Place))
	}
	return bytes
}

// again is the share of what a load reads that the same thread has loaded before.
func (l *Launch) again(at Place) float64 {
	if l.Record == nil {
		return 0
	}
	r := l.Record.Load(at)
	if r == nil {
		return 0
	}
	return min(1, float64(r.InEarlierRound[SameThread]+r.Earlier[SameThread])/float64(max(1, r.Bytes)))
}

func (p *Profile) inst(l *Launch, at Place) *sass.Inst {
	code := p.Modules[l.Module].Codes[at.Code]
	if n := int(at.PC / sass.InstSize); n < len(code.Insts) {
		return &code.Insts[n]
	}
	return nil
}

// worksAlone reports whether no thread of a launch works with others, by what it has executed: it uses no shared memory, no barrier, no value of
// another lane and no atomic operation.
func (j *joiner) worksAlone(l *Launch) bool {
	alone, known := j.alone[l]
	if !known {
		alone = len(l.PCs) > 0 && !slices.ContainsFunc(l.PCs, func(c Counter) bool {
			in := j.profile.inst(l, Place{c.Code, c.PC})
			return in == nil || c.ThreadExecutions > 0 && !in.Op.Properties().Single() // compilers for Volta begin with a SHFL of no lane
		})
		j.alone[l] = alone
	}
	return alone
}

// inPlace reports whether a launch loads what it stores to.
func inPlace(l *Launch) bool {
	return l.Record == nil || slices.ContainsFunc(l.Record.Loads, func(r LoadRecord) bool { return r.Stored > 0 })
}

// blocks is how many a launch has.
func blocks(l *Launch) int { return l.Grid[0] * l.Grid[1] * l.Grid[2] }
