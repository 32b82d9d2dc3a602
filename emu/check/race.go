package check

import (
	"slices"

	"gpa/emu"
)

// slots is the number of accesses remembered for a word of shared memory, as ThreadSanitizer does (Serebryany and Iskhodzhanov,
// WBIA 2009). More would find more races, fewer would miss some; none makes a false one.
const slots = 4

// A slot is one access to a word of shared memory.
type slot struct {
	site    siteID // 0 for none
	stamp   uint32
	step    int64
	value   uint32 // that was stored
	group   uint32 // of an asynchronous access: the number of its group among those of its warp, from 1; 0 for other accesses
	warp    uint16
	kind    emu.AccessKind
	lane    uint8
	bytes   uint8 // of the word, a bit each
	bank    bank  // of its group
	valued  bool
	proxied bool // made through the asynchronous proxy
}

// A cell is what is remembered of a word.
type cell struct {
	begun int64 // the block that it is of
	slots [slots]slot
}

// A block is the shadow of a block's shared memory and warps, or of those of all blocks of a cluster one after the other: that is to the
// checker a block with as many warps and as much shared memory as its blocks have together, each of which has barriers of its own.
type block struct {
	number    int   // of the first block of a cluster
	members   []int // the numbers of a cluster's blocks by rank
	shared    int   // bytes of shared memory of each
	left      int   // blocks that have not ended
	threads   int   // of each
	begun     int64 // blocks begun with this storage, to tell old cells
	warps     []warp
	cells     []cell
	written   []bool // by byte of shared memory
	told      map[word]clock
	words     map[uint64]*mbarrier
	pointers  map[word]party // 8-byte words that hold addresses of local memory, and whose
	barriers  []barrier      // emu.NumBarriers of each block; that of the cluster is the first one's
	firstExit party          // of its threads
	ends      []party        // where threads of each block ended last
	visitors  []visitor      // of a cluster, by warp and rank of another block
	groups    []warpgroup    // those of a block one after the other
}

func newBlock(blocks, threads, sharedBytes int) *block {
	bytes := blocks * sharedBytes
	each := (threads + 31) / 32
	b := &block{
		threads: threads, shared: sharedBytes, warps: make([]warp, blocks*each), cells: make([]cell, (bytes+3)/4), written: make([]bool, bytes),
		barriers: make([]barrier, blocks*emu.NumBarriers), ends: make([]party, blocks), groups: make([]warpgroup, blocks*groupsOf(each)),
	}
	if blocks > 1 {
		b.visitors = make([]visitor, len(b.warps)*blocks)
	}
	return b
}

// warpsOf returns the warps of each block.
func (b *block) warpsOf() int { return (b.threads + 31) / 32 }

// rank returns the rank of a block.
func (b *block) rank(number int) int { return max(0, slices.Index(b.members, number)) }

// at returns where an address in the shared memory of a block is in the shadow.
func (b *block) at(number int, addr uint64) uint64 {
	if addr >= uint64(b.shared) && len(b.members) > 1 {
		return uint64(len(b.written)) // an access that faulted
	}
	return uint64(b.rank(number)*b.shared) + addr
}

// barrier returns the barrier of a warp's block, or that of the cluster.
func (b *block) barrier(warp, number int) *barrier {
	if number == emu.ClusterBarrier {
		return &b.barriers[number]
	}
	return &b.barriers[warp/b.warpsOf()*emu.NumBarriers+number]
}

// begin makes the storage that of a new block, or of those of a cluster.
func (b *block) begin(members []int) {
	b.members, b.left = members, len(members)
	b.number, b.told, b.words, b.pointers = members[0], make(map[word]clock), make(map[uint64]*mbarrier), make(map[word]party)
	b.firstExit = party{}
	b.begun++
	clear(b.written)
	clear(b.barriers)
	clear(b.ends)
	clear(b.visitors)
	clear(b.groups)
	for i := range b.warps {
		w := &b.warps[i]
		*w = warp{now: newClock(len(b.warps)), log: w.log[:0], local: w.local[:0]}
	}
}

// accessShared notes a write, and reports whether what a read reads has been written. An access that faulted is well.
func (b *block) accessShared(kind emu.AccessKind, addr uint64, size int) bool {
	end := addr + uint64(size)
	if end > uint64(len(b.written)) {
		return true
	}
	return touch(kind, b.written[addr:end])
}

// race looks for accesses that the present one is not ordered with.
func (c *Checker) race(b *block, s *emu.Step, now *slot, lane int, addr uint64, size int) {
	now.lane = uint8(lane)
	if now.kind == emu.Store {
		now.value, now.valued = s.Stored(lane)
	}
	c.raceOf(b, s, now, addr, size)
}

// slot is an access of a lane.
func (b *block) slot(s *emu.Step, at siteID, kind emu.AccessKind, lane int) slot {
	w := &b.warps[s.Warp]
	return slot{site: at, kind: kind, warp: uint16(s.Warp), lane: uint8(lane), stamp: w.stamp(s.Warp), step: w.step}
}

// raceOf is race for an access that is known.
func (c *Checker) raceOf(b *block, s *emu.Step, now *slot, addr uint64, size int) {
	if addr+uint64(size) > uint64(len(b.written)) {
		return
	}
	w := &b.warps[s.Warp]
	for from := addr &^ 3; from < addr+uint64(size); from += 4 {
		cl := &b.cells[from/4]
		if cl.begun != b.begun {
			*cl = cell{begun: b.begun}
		}
		now.bytes = bytesOf(from, addr, size)
		if k := int(from-addr) / 4; from > addr && now.valued {
			words, n := s.Values(int(now.lane))
			if now.valued = k < n; now.valued {
				now.value = words[k]
			}
		}
		var known order
		if c.compare(b, w, s, cl, now, &known, addr, size) {
			cl.remember(b, w, now, &known)
		}
	}
}

// An order says of the accesses to a word that are remembered which of them are known to have happened before the present one.
type order [slots]struct{ known, happened bool }

// of looks whether the i-th did, once.
func (o *order) of(i int, b *block, old *slot, w *warp, lane int) bool {
	if !o[i].known {
		o[i].known, o[i].happened = true, b.happened(old, w, lane)
	}
	return o[i].happened
}

// compare compares an access to a word with those that are remembered. It reports whether it is to be remembered too: a load is not
// where the same instruction has another lane load the same.
func (c *Checker) compare(b *block, w *warp, s *emu.Step, cl *cell, now *slot, known *order, addr uint64, size int) bool {
	news := true
	for i := range cl.slots {
		old := &cl.slots[i]
		if now.kind == emu.Load && old.kind == emu.Load {
			if old.step == now.step && old.warp == now.warp && now.bytes&^old.bytes == 0 {
				news = false
			}
			continue
		}
		if !old.conflicts(now) {
			continue
		}
		if !known.of(i, b, old, w, int(now.lane)) {
			c.reportRace(b, s, now, old, addr, size)
		} else if now.proxied && now.kind == emu.Load && !old.proxied && *w.at(fences, int(old.warp)) < old.stamp {
			c.reportUnfenced(s, now, old, addr, size)
		} else if w.unmarked(old, s.Warp, int(now.lane)) {
			c.reportUnmarked(s, now.site, old, int(now.lane), addr, size)
		}
	}
	return news
}

// bytesOf is the part of the word at from that an access covers, a bit a byte.
func bytesOf(from, addr uint64, size int) uint8 {
	low, high := max(from, addr)-from, min(from+4, addr+uint64(size))-from
	return uint8(1<<high - 1<<low)
}

// conflicts reports whether it matters which of two accesses is the first. Two stores of the same value do not, and atomics
// do not among themselves.
func (old *slot) conflicts(now *slot) bool {
	switch {
	case old.site == 0 || old.bytes&now.bytes == 0:
		return false
	case old.kind == emu.Load && now.kind == emu.Load, old.kind == emu.Atomic && now.kind == emu.Atomic:
		return false
	case old.kind == emu.Store && now.kind == emu.Store && old.valued && now.valued && old.value == now.value:
		return false
	}
	return true
}

// happened reports whether an access has happened before the present one of a warp's lane.
func (b *block) happened(old *slot, w *warp, lane int) bool {
	if old.group > 0 {
		return w.complete(old)
	}
	if &b.warps[old.warp] != w {
		return w.now[old.warp] >= old.stamp
	}
	if old.step == w.step { // of the same instruction
		return int(old.lane) == lane
	}
	return w.ordered(old.step, old.lane, uint8(lane))
}

// unmarked reports whether an access of another lane of the warp is ordered with the present one only because the lanes happened to
// execute together (CUDA C++ Programming Guide, independent thread scheduling: programs may not rely on that).
func (w *warp) unmarked(old *slot, id, lane int) bool {
	return int(old.warp) == id && int(old.lane) != lane && old.group == 0 && w.marks[lane] <= old.step
}

func (c *Checker) reportUnmarked(s *emu.Step, at siteID, old *slot, lane int, addr uint64, size int) {
	f := c.report(MissingSyncwarp, at, old.site, s.Block, s.Warp, lane)
	c.address(f, s, emu.Shared, addr, size)
	if f.Other == nil {
		other := c.place(old.site, s.Block, int(old.warp), int(old.lane))
		f.Other = &other
		f.Detail = "two lanes of a warp, which execute together here; nothing but __syncwarp makes sure that they do"
	}
}

// remember keeps an access. It takes the place of one that it makes superfluous, else a free one, else that of one of the same kind
// by another lane of the same instruction, else that of one that has happened before it, else one chosen by its number.
func (cl *cell) remember(b *block, w *warp, now *slot, known *order) {
	best, rank := int(now.step)%slots, 0
	for i := range cl.slots {
		old := &cl.slots[i]
		if old.site == 0 {
			if rank < 4 {
				best, rank = i, 4
			}
			continue
		}
		covered := old.bytes&^now.bytes == 0 && (old.kind == now.kind || old.kind == emu.Load)
		if covered && old.warp == now.warp && old.lane == now.lane && old.group == 0 {
			best = i
			break
		}
		if rank >= 2 && !covered || rank >= 5 { // it would not come before the best
			continue
		}
		r := 0
		switch {
		case known.of(i, b, old, w, int(now.lane)):
			if r = 2; covered {
				r = 5
			}
		case covered && old.kind == now.kind && old.kind != emu.Store && old.warp == now.warp && old.step == now.step:
			r = 3
		}
		if r > rank {
			best, rank = i, r
		}
	}
	cl.slots[best] = *now
}

// reportRace makes a finding of two accesses.
func (c *Checker) reportRace(b *block, s *emu.Step, now, old *slot, addr uint64, size int) {
	kind := RaceRAW
	switch {
	case b.unfinished(old) && old.kind != emu.Load:
		kind = UnfinishedCopy
	case old.kind == emu.Load:
		kind = RaceWAR
	case now.kind != emu.Load:
		kind = RaceWAW
	}
	f := c.report(kind, now.site, old.site, s.Block, s.Warp, int(now.lane))
	c.address(f, s, emu.Shared, addr, size)
	if f.Other == nil {
		other := c.place(old.site, s.Block, int(old.warp), int(old.lane))
		f.Other = &other
		f.Detail = raceDetail(b, old, s.Warp)
	}
}

// raceDetail says what is missing between an access and the present one of a warp.
func raceDetail(b *block, old *slot, warp int) string {
	switch {
	case b.unfinished(old):
		return old.bank.unfinished()
	case old.bank == copyGroups && old.group > 0:
		return "a copy: no barrier after the wait for it"
	case old.group > 0:
		return "nothing tells the warp that it is complete"
	case int(old.warp) != warp:
		return "no barrier between them"
	case old.step == b.warps[warp].step:
		return "two lanes of one instruction store different values"
	}
	return "lanes of one warp that have parted, no __syncwarp between them"
}
