package check

import (
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu"
)

// A visitor is what a warp did last in the shared memory of another block of its cluster.
type visitor struct {
	at       party
	stamp    uint32
	transfer party
	group    uint32 // of the transfer, 0 for none
}

// visitorOf returns what a warp did last in the shared memory of the block of a rank.
func (b *block) visitorOf(warp, rank int) *visitor { return &b.visitors[warp*len(b.members)+rank] }

// A block may access the shared memory of another one of its cluster from when that has certainly begun until it may end (CUDA C++
// Programming Guide, distributed shared memory). A block has begun for those who have been told something by one of its warps, and before it
// ends one of its warps must have been told of what others do in its memory: mostly both is what a barrier of the cluster does.

// visitPeer checks whether the owner of shared memory that a lane accesses has begun, and remembers the access until the owner ends. group is
// that of a transfer, whose end a transaction barrier tells, 0 for other accesses.
func (c *Checker) visitPeer(b *block, s *emu.Step, at siteID, lane, owner int, group uint32) {
	if len(b.members) == 1 {
		return
	}
	rank, w := b.rank(owner), &b.warps[s.Warp]
	if rank == s.Warp/b.warpsOf() {
		return
	}
	who := party{at, int32(s.Block), int32(s.Warp), int32(lane)}
	if !b.knowsOf(w, rank) {
		if f := c.about(EarlyAccess, who, party{}); f.Count == 1 {
			f.Detail = fmt.Sprintf("of block %d of the cluster by block %d: no barrier of the cluster before it, nor anything else that tells that the block has begun", rank, s.Warp/b.warpsOf())
		}
	}
	v := b.visitorOf(s.Warp, rank)
	switch stamp := w.stamp(s.Warp); { // of what comes to the same the first lane's stays
	case group > 0:
		if v.transfer.site != at {
			v.transfer = who
		}
		v.group = group
	case v.at.site != at || v.stamp != stamp:
		v.at, v.stamp = who, stamp
	}
}

// knowsOf reports whether a warp knows that the block of a rank has begun.
func (b *block) knowsOf(w *warp, rank int) bool {
	if w.begun>>rank&1 != 0 {
		return true
	}
	for warp := rank * b.warpsOf(); warp < (rank+1)*b.warpsOf(); warp++ {
		if *w.at(stamps, warp) > 0 {
			w.begun |= 1 << rank
			return true
		}
	}
	return false
}

// peersOf looks for accesses to the shared memory of a block that ends now, of which none of its warps has been told.
func (c *Checker) peersOf(b *block, number int) {
	if len(b.members) == 1 {
		return
	}
	rank, each := b.rank(number), b.warpsOf()
	known := newClock(len(b.warps))
	for i := range each {
		known.join(b.warps[rank*each+i].now)
	}
	for warp := range b.warps {
		if warp/each == rank {
			continue
		}
		v := b.visitorOf(warp, rank)
		if v.at.site != 0 && v.stamp > *known.at(stamps, warp) {
			c.reportLate(b, v.at, rank)
		}
		if v.group > *known.at(transferGroups, warp) {
			c.reportLate(b, v.transfer, rank)
		}
	}
}

func (c *Checker) reportLate(b *block, who party, rank int) {
	if f := c.about(LateAccess, who, b.ends[rank]); f.Count == 1 {
		f.Detail = fmt.Sprintf("of block %d of the cluster by block %d: no barrier of the cluster between it and the end of the block", rank, int(who.warp)/b.warpsOf())
	}
}

// A warpgroup is what four warps do together: each thread of them executes the same of the instructions of wgmma (PTX ISA, wgmma:
// .sync.aligned), and those of the compiler's that order them.
type warpgroup struct {
	done   [groupWarps]int // instructions of each warp
	queue  []party         // what not all have executed yet, and who was the first
	behind int             // those before the queue
	told   bool            // that they part
}

const groupWarps = 4

// mostAhead is by how many instructions a warp can be before another one of its warpgroup. Those that wait for each other are not that far
// apart, whatever turns they get here.
const mostAhead = 1 << 14

// firstOfGroup is the first warp of a warp's warpgroup, whose products are those of all four.
func (b *block) firstOfGroup(warp int) int { return warp - warp%b.warpsOf()%groupWarps }

// groupOf returns the warpgroup of a warp.
func (b *block) groupOf(warp int) *warpgroup {
	each := b.warpsOf()
	return &b.groups[warp/each*groupsOf(each)+warp%each/groupWarps]
}

// groupsOf returns how many warpgroups so many warps are, the last one maybe not complete.
func groupsOf(warps int) int { return (warps + groupWarps - 1) / groupWarps }

// warpgroup checks that a warp executes an instruction of a warpgroup with all of its lanes, and the same one as the other warps. Those
// of one line count as the same, as the compiler may have unrolled it.
func (c *Checker) warpgroup(b *block, s *emu.Step) {
	if s.Inst.Op != sass.WARPGROUP && s.Inst.Op.Properties().Async != sass.AsyncMatrix || s.Mask == 0 {
		return
	}
	g, k := b.groupOf(s.Warp), s.Warp-b.firstOfGroup(s.Warp)
	if g.told {
		return
	}
	at := party{c.site(s.Code, s.Inst), int32(s.Block), int32(s.Warp), int32(bits.TrailingZeros32(s.Mask))}
	if s.Mask != ^uint32(0) {
		g.told = true
		c.about(PartialWarpgroup, at, party{}).Detail = fmt.Sprintf("lanes %#08x of a warp execute it, all must", s.Mask)
		return
	}
	n := g.done[k] - g.behind
	g.done[k]++
	switch {
	case n == mostAhead:
		c.unequal(b, g, g.queue[0])
		return
	case n == len(g.queue):
		g.queue = append(g.queue, at)
	case c.sites[g.queue[n].site-1].line != c.sites[at.site-1].line:
		g.told = true
		c.about(PartialWarpgroup, at, g.queue[n]).Detail = "another warp of the warpgroup executes another instruction instead"
		return
	}
	if n == 0 {
		g.trim()
	}
}

// trim forgets what all have executed.
func (g *warpgroup) trim() {
	all := min(g.done[0], g.done[1], g.done[2], g.done[3]) - g.behind
	g.queue = g.queue[:copy(g.queue, g.queue[all:])]
	g.behind += all
}

// warpgroupsOf looks for instructions that only some warps of a warpgroup of the block that ends now have executed.
func (c *Checker) warpgroupsOf(b *block, number int) {
	each := b.warpsOf()
	for k := range groupsOf(each) {
		if g := &b.groups[b.rank(number)*groupsOf(each)+k]; !g.told && len(g.queue) > 0 {
			c.unequal(b, g, g.queue[0])
		}
	}
}

// unequal reports the first instruction that not all warps of a warpgroup execute.
func (c *Checker) unequal(b *block, g *warpgroup, at party) {
	g.told = true
	first := b.firstOfGroup(int(at.warp))
	there := min(groupWarps, b.warpsOf()-first%b.warpsOf())
	var missing party
	n := 0
	for k := range groupWarps {
		if g.done[k] > g.behind {
			n++
		} else if k < there && missing.site == 0 {
			missing = b.warps[first+k].end
		}
	}
	f := c.about(PartialWarpgroup, at, missing)
	f.Detail = fmt.Sprintf("%d of the four warps of a warpgroup execute it, all must", n)
	if there < groupWarps {
		f.Detail += fmt.Sprintf("; the block has %d", there)
	}
}
